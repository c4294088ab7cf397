"""Speaks lockfault's protocol (locks/program/PROTOCOL.md) for a lock in Python. Copy it beside yours."""
import json
import sys


class NotHeld(Exception):
    """The lease is over; nothing was released or extended."""


def serve(connect, **description):
    """Answers requests until there are no more.

    connect(hello) returns the lock: an object with acquire(resource), which returns a dictionary with token and
    validity_ms or, if the lock is taken, None; and with extend(lease), which returns such a dictionary too, release(lease)
    and valid(lease), which get that dictionary back and raise NotHeld if the lease is over. Any other exception says that
    nobody knows whether it happened. The description is what hello is answered with.
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
                lease = lock.acquire(request["resource"])
                if lease is None:
                    raise NotHeld("somebody else has it")
                leases[request["id"]] = lease
                answer.update(token=lease["token"], validity_ms=lease["validity_ms"])
            elif request["op"] == "extend":
                lease.update(lock.extend(lease))
                answer.update(validity_ms=lease["validity_ms"])
            elif request["op"] == "release":
                lock.release(lease)
            elif request["op"] == "valid":
                lock.valid(lease)
        except NotHeld as e:
            answer.update(outcome="fail", error=str(e))
        except Exception as e:
            answer.update(outcome="unknown", error=f"{type(e).__name__}: {e}")
        print(json.dumps(answer), flush=True)
