<?php
// What many write first: SET NX PX, and a plain DEL, whoever has the key by then. adapter-check and the catalogue catch it.

require __DIR__ . '/adapter.php';

final class Naive
{
    private int $ttl;
    private string $address;
    private float $timeout; // seconds
    private ?Redis $redis = null;

    public function __construct(array $hello)
    {
        $this->ttl = $hello['ttl_ms'];
        $this->address = $hello['nodes'][0];
        $this->timeout = max($this->ttl / 4000, 0.05);
        $this->ask(fn (Redis $redis) => $redis->ping());
    }

    private function ask(callable $question)
    {
        try {
            $this->redis ??= node($this->address, $this->timeout, $this->timeout);
            $this->redis->clearLastError();
            $answer = $question($this->redis);
            if ($error = $this->redis->getLastError()) {
                throw new RuntimeException($error);
            }
            return $answer;
        } catch (RedisException $e) {
            $this->redis = null;
            throw $e;
        }
    }

    public function acquire(string $resource): ?array
    {
        $token = bin2hex(random_bytes(16));
        $sent = hrtime(true);
        if (!$this->ask(fn (Redis $redis) => $redis->set("lock:$resource", $token, ['nx', 'px' => $this->ttl]))) {
            return null;
        }
        $left = $this->ttl - (hrtime(true) - $sent) / 1e6;
        return ['resource' => $resource, 'token' => $token, 'validity_ms' => max(0, $left)];
    }

    public function extend(array $lease): array
    {
        $this->ask(fn (Redis $redis) => $redis->pExpire('lock:' . $lease['resource'], $this->ttl));
        return ['validity_ms' => $this->ttl];
    }

    public function release(array $lease): void
    {
        $this->ask(fn (Redis $redis) => $redis->del('lock:' . $lease['resource']));
    }

    public function valid(array $lease): void
    {
    }
}

serve(fn (array $hello) => new Naive($hello), [
    'name' => 'naive-php', 'version' => 'phpredis ' . phpversion('redis'), 'servers' => 'one-node', 'like' => 'single-del',
]);
