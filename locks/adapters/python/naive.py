"""What many write first: SETNX, then EXPIRE, and a plain DEL. adapter-check and the catalogue catch it."""
import redis
from adapter import serve


class Naive:
    def __init__(self, hello):
        host, port = hello["nodes"][0].rsplit(":", 1)
        self.ttl_ms = hello["ttl_ms"]
        timeout = max(self.ttl_ms / 4000, 0.05)
        self.redis = redis.Redis(host, int(port), socket_timeout=timeout, socket_connect_timeout=timeout)
        self.redis.ping()

    def acquire(self, resource):
        if not self.redis.setnx("lock:" + resource, "locked"):
            return None
        self.redis.pexpire("lock:" + resource, self.ttl_ms)
        return {"resource": resource, "token": "locked", "validity_ms": self.ttl_ms}

    def extend(self, lease):
        self.redis.pexpire("lock:" + lease["resource"], self.ttl_ms)
        return {"validity_ms": self.ttl_ms}

    def release(self, lease):
        self.redis.delete("lock:" + lease["resource"])

    def valid(self, lease):
        self.redis.get("lock:" + lease["resource"])


serve(Naive, name="naive-py", version="redis-py " + redis.__version__, servers="one-node", like="setnx-expire")
