<?php
// Speaks lockfault's protocol (locks/program/PROTOCOL.md) for a lock in PHP. Copy it beside yours.

ini_set('display_errors', 'stderr'); // standard output is for answers

/** What an acquire may be answered with. */
const GRANT = ['token' => true, 'validity_ms' => true, 'fence' => true, 'waited_ms' => true];

/** The lease is over; nothing was released or extended. */
class NotHeld extends Exception {}

/**
 * Answers requests until there are no more. $connect($hello) returns the lock: an object with acquire($resource), which
 * returns an array or, if the lock is taken, null; and with extend($lease), which returns an array too, release($lease) and
 * valid($lease), which get that of acquire back and throw NotHeld if the lease is over. Any other exception says that nobody
 * knows whether it happened: let a time-out of the Redis client through, and return null only if the lock was certainly not
 * set.
 *
 * acquire's array has token; validity_ms, unless the lease is renewed until it is released; fence, if $hello['fencing'] is
 * true; and waited_ms, if the lock waits by itself. extend's has validity_ms. Other keys are yours. The description is what
 * hello is answered with; with 'waits' => true in it, acquire gets wait_ms after the resource.
 */
function serve(callable $connect, array $description): void
{
    $lock = null;
    $leases = [];
    while (($line = fgets(STDIN)) !== false) {
        $request = json_decode($line, true);
        $answer = ['id' => $request['id'], 'outcome' => 'ok'];
        $id = $request['lease'] ?? 0;
        try {
            switch ($request['op']) {
                case 'quit':
                    return;
                case 'hello':
                    $answer += $description;
                    if (isset($request['nodes'])) { // the first hello only asks who we are
                        $lock = $connect($request);
                    }
                    break;
                case 'acquire':
                    $wait = empty($description['waits']) ? [] : [$request['wait_ms']];
                    $lease = $lock->acquire($request['resource'], ...$wait);
                    if ($lease === null) {
                        throw new NotHeld('somebody else has it');
                    }
                    $leases[$request['id']] = $lease;
                    $answer += array_intersect_key($lease, GRANT);
                    break;
                case 'extend':
                    $extended = $lock->extend($leases[$id]);
                    $leases[$id] = $extended + $leases[$id];
                    $answer += array_intersect_key($extended, ['validity_ms' => true]);
                    break;
                case 'release':
                    $lock->release($leases[$id]);
                    break;
                case 'valid':
                    $lock->valid($leases[$id]);
            }
        } catch (NotHeld $e) {
            $answer = ['outcome' => 'fail', 'error' => $e->getMessage()] + $answer;
        } catch (Throwable $e) {
            $answer = ['outcome' => 'unknown', 'error' => get_class($e) . ': ' . $e->getMessage()] + $answer;
        }
        fwrite(STDOUT, json_encode($answer) . "\n");
        fflush(STDOUT);
    }
}

/** A connection of phpredis to a node given as host:port, with time-outs in seconds. */
function node(string $address, float $connectTimeout, float $readTimeout): Redis
{
    [$host, $port] = explode(':', $address);
    $redis = new Redis();
    $redis->connect($host, (int) $port, $connectTimeout, null, 0, $readTimeout);
    return $redis;
}
