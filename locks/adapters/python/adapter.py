"""Speaks lockfault's protocol (locks/program/PROTOCOL.md) for a lock in Python. Copy it beside yours."""
import json
import sys

GRANT = ("token", "validity_ms", "fence", "waited_ms")  # what an acquire may be answered with


class NotHeld(Exception):
    """The lease is over; nothing was released or extended."""


def serve(connect, **description):
    """Answers requests until there are no more.

    connect(hello) returns the lock: an object with acquire(resource), which returns a dictionary or, if the lock is taken,
    None; and with extend(lease), which returns a dictionary too, release(lease) and valid(lease), which get that of acquire
    back and raise NotHeld if the lease is over. Any other exception says that nobody knows whether it happened: let a
    time-out of the Redis client through, and return None only if the lock was certainly not set.

    acquire's dictionary has token; validity_ms, unless the lease is renewed until it is released; fence, if
    hello["fencing"] is true; and waited_ms, if the lock waits by itself. extend's has validity_ms. Other keys are yours.
    The description is what hello is answered with; with waits=True in it, acquire gets wait_ms after the resource.
    """
    lock, leases = None, {}
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"], "outcome": "ok"}
        lease = leases.get(request.get("lease"))
        try:
            if request["op"] == "quit":
                return
            if request["op"] == "hello":
                answer.update(description)
                if "nodes" in request:  # the first hello only asks who we are
                    lock = connect(request)
            elif request["op"] == "acquire":
                wait = [request["wait_ms"]] if description.get("waits") else []
                lease = lock.acquire(request["resource"], *wait)
                if lease is None:
                    raise NotHeld("somebody else has it")
                leases[request["id"]] = lease
                answer.update((key, lease[key]) for key in GRANT if key in lease)
            elif request["op"] == "extend":
                extended = lock.extend(lease)
                lease.update(extended)
                answer.update((key, extended[key]) for key in ("validity_ms",) if key in extended)
            elif request["op"] == "release":
                lock.release(lease)
            elif request["op"] == "valid":
                lock.valid(lease)
        except NotHeld as e:
            answer.update(outcome="fail", error=str(e))
        except Exception as e:
            answer.update(outcome="unknown", error=f"{type(e).__name__}: {e}")
        print(json.dumps(answer), flush=True)
