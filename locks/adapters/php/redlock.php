<?php
// Redlock over phpredis, as it is often written: an owner token, 50 ms to connect to a node, a safety margin of 10 ms, and
// a release on all nodes.

require __DIR__ . '/adapter.php';

final class Redlock
{
    private const TIMEOUT = 0.05; // seconds, to connect to a node and to hear of it
    private const MARGIN_MS = 10; // for clocks that drift
    private const RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private const EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";

    private int $ttl;
    private array $nodes = []; // by address: a connection, or null
    private int $quorum;

    public function __construct(array $hello)
    {
        $this->ttl = $hello['ttl_ms'];
        $this->nodes = array_fill_keys($hello['nodes'], null);
        $this->quorum = intdiv(count($this->nodes), 2) + 1;
        $this->ask(fn (Redis $node) => $node->ping());
    }

    /** Each node's answer; null if there is none. */
    private function ask(callable $question): array
    {
        $answers = [];
        foreach ($this->nodes as $address => &$node) {
            try {
                $node ??= node($address, self::TIMEOUT, self::TIMEOUT);
                $node->clearLastError();
                $answer = (bool) $question($node);
                $answers[] = $node->getLastError() === null ? $answer : null;
            } catch (RedisException $e) {
                $node = null; // what it still answers must not be taken for the answer to something else
                $answers[] = null;
            }
        }
        return $answers;
    }

    private function script(string $text, array $lease, ...$args): array
    {
        return $this->ask(fn (Redis $node) => $node->eval($text, ['lock:' . $lease['resource'], $lease['token'], ...$args], 1));
    }

    private function left(int $sent): float
    {
        return $this->ttl - (hrtime(true) - $sent) / 1e6 - self::MARGIN_MS;
    }

    public function acquire(string $resource): ?array
    {
        $lease = ['resource' => $resource, 'token' => bin2hex(random_bytes(16))];
        $sent = hrtime(true);
        $granted = $this->ask(fn (Redis $node) => $node->set("lock:$resource", $lease['token'], ['nx', 'px' => $this->ttl]));
        $lease['validity_ms'] = $this->left($sent);
        if (self::count($granted, true) >= $this->quorum && $lease['validity_ms'] > 0) {
            return $lease;
        }
        $undone = $this->script(self::RELEASE, $lease);
        $kept = array_filter(array_keys($granted), fn (int $i) => $granted[$i] !== false && $undone[$i] === null);
        if (count($kept) >= $this->quorum) {
            throw new RuntimeException('a majority may keep the keys of this attempt');
        }
        return null;
    }

    public function extend(array $lease): array
    {
        $sent = hrtime(true);
        $this->agree($this->script(self::EXTEND, $lease, $this->ttl));
        if (($left = $this->left($sent)) <= 0) {
            throw new RuntimeException('extended too late');
        }
        return ['validity_ms' => $left];
    }

    public function release(array $lease): void
    {
        $this->agree($this->script(self::RELEASE, $lease));
    }

    public function valid(array $lease): void
    {
        $this->agree($this->ask(fn (Redis $node) => $node->get('lock:' . $lease['resource']) === $lease['token']));
    }

    private function agree(array $answers): void
    {
        if (self::count($answers, true) >= $this->quorum) {
            return;
        }
        if (self::count($answers, false) > count($this->nodes) - $this->quorum) {
            throw new NotHeld('not on a majority of the nodes');
        }
        throw new RuntimeException(self::count($answers, null) . ' nodes did not answer');
    }

    private static function count(array $answers, ?bool $what): int
    {
        return count(array_keys($answers, $what, true));
    }
}

serve(fn (array $hello) => new Redlock($hello), [
    'name' => 'redlock-php', 'version' => 'phpredis ' . phpversion('redis'), 'servers' => 'five-nodes', 'like' => 'redlock',
]);
