"""The Lock of redis-py, as it is."""
import time

import redis
from adapter import NotHeld, serve


class RedisPy:
    def __init__(self, hello):
        host, port = hello["nodes"][0].rsplit(":", 1)
        self.ttl_ms = hello["ttl_ms"]
        timeout = max(self.ttl_ms / 4000, 0.05)
        self.redis = redis.Redis(host, int(port), socket_timeout=timeout, socket_connect_timeout=timeout)
        self.redis.ping()  # connected, as a service is once it has started

    def acquire(self, resource):
        lock = self.redis.lock("lock:" + resource, timeout=self.ttl_ms / 1000)
        sent = time.monotonic()
        if not lock.acquire(blocking=False):
            return None
        return {"lock": lock, "token": lock.local.token.decode(), "validity_ms": self.left(sent)}

    def left(self, sent):
        return max(0, self.ttl_ms - (time.monotonic() - sent) * 1000)

    def extend(self, lease):
        sent = time.monotonic()
        try:
            lease["lock"].reacquire()
        except redis.exceptions.LockError as e:
            raise NotHeld(e)
        return {"validity_ms": self.left(sent)}

    def release(self, lease):
        try:
            lease["lock"].release()
        except redis.exceptions.LockError as e:
            raise NotHeld(e)

    def valid(self, lease):
        if not lease["lock"].owned():
            raise NotHeld("the key has another value or none")


serve(RedisPy, name="redis-py", version="redis-py " + redis.__version__, servers="one-node", like="single")
