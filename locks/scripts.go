package locks

// Scripts are sent with EVAL, whole, every time. EVALSHA saves some bytes, but a server that restarted has forgotten the
// script and answers NOSCRIPT, so that one logical command needs a second round trip: a second chance for a lost
// reply, exactly where the outcome matters.
//
// KEYS[1] is the lock's key, KEYS[2] the fence's; ARGV[1] is the token, ARGV[2] the TTL in ms.
const (
	// grantScript sets the key if there is none and mints the fence in the same step. It answers the fence, or 0 if the
	// key exists. Minted outside this step, fences can come in another order than grants.
	grantScript = `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
	return redis.call('incr', KEYS[2])
end
return 0`

	// extendScript renews the expiry if the key has the token. It never sets the key again: a lease that ran out may have
	// been someone else's in between.
	extendScript = `
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0`

	// releaseScript deletes the key if it has the token.
	releaseScript = `
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
end
return 0`
)

// Key is the Redis key that holds the lock on a resource; its value is the holder's token.
func Key(resource string) string { return "lock:" + resource }

// FenceKey is the Redis key that counts the fences of a resource. It has no expiry: a counter that starts again gives
// out old fences.
func FenceKey(resource string) string { return "fence:" + resource }
