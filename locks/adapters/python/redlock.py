"""Redlock over redis-py: a majority of five nodes, asked one after another."""
import time
import uuid

import redis
from adapter import NotHeld, serve

COMPARE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call(%s) end return 0"
RELEASE = COMPARE % "'del', KEYS[1]"
EXTEND = COMPARE % "'pexpire', KEYS[1], ARGV[2]"
TIMEOUT = 0.05  # seconds, for each node


class Redlock:
    def __init__(self, hello):
        self.ttl_ms = hello["ttl_ms"]
        self.nodes = []
        for node in hello["nodes"]:
            host, port = node.rsplit(":", 1)
            self.nodes.append(redis.Redis(host, int(port), socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT))
        self.quorum = len(self.nodes) // 2 + 1
        self.ask(lambda node: node.ping())

    def ask(self, question):
        """Each node's answer; None if there is none."""
        answers = []
        for node in self.nodes:
            try:
                answers.append(bool(question(node)))
            except redis.exceptions.RedisError:
                answers.append(None)
        return answers

    def script(self, text, lease, *args):
        return self.ask(lambda node: node.eval(text, 1, "lock:" + lease["resource"], lease["token"], *args))

    def left(self, sent):
        drift = self.ttl_ms / 100 + 2
        return self.ttl_ms - (time.monotonic() - sent) * 1000 - drift

    def acquire(self, resource):
        lease = {"resource": resource, "token": uuid.uuid4().hex}
        sent = time.monotonic()
        granted = self.ask(lambda node: node.set("lock:" + resource, lease["token"], nx=True, px=self.ttl_ms))
        lease["validity_ms"] = self.left(sent)
        if granted.count(True) >= self.quorum and lease["validity_ms"] > 0:
            return lease
        undone = self.script(RELEASE, lease)
        if sum(set_ is not False and gone is None for set_, gone in zip(granted, undone)) >= self.quorum:
            raise TimeoutError("a majority may keep the keys of this attempt")
        return None

    def agreed(self, answers):
        if answers.count(True) >= self.quorum:
            return
        if answers.count(False) > len(self.nodes) - self.quorum:
            raise NotHeld("not on a majority of the nodes")
        raise TimeoutError(f"{answers.count(None)} nodes did not answer")

    def extend(self, lease):
        sent = time.monotonic()
        self.agreed(self.script(EXTEND, lease, self.ttl_ms))
        left = self.left(sent)
        if left <= 0:
            raise TimeoutError("extended too late")
        return {"validity_ms": left}

    def release(self, lease):
        self.agreed(self.script(RELEASE, lease))

    def valid(self, lease):
        self.agreed(self.ask(lambda node: node.get("lock:" + lease["resource"]) == lease["token"].encode()))


serve(Redlock, name="redlock-py", version="redis-py " + redis.__version__, servers="five-nodes", like="redlock")
