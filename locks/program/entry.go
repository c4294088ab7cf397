package program

import "github.com/lockfault/lockfault/locks"

// Prefix stands before a command where the name of a lock is wanted: exec:python3 my_lock.py.
const Prefix = "exec:"

// Entry asks a program what it is, and returns it as an entry like those of locks.All. Each lock that the entry makes is a
// process of its own.
func Entry(command string) (locks.Entry, error) {
	p, err := StartAlone(command)
	if err != nil {
		return locks.Entry{}, err
	}
	d := p.Description()
	if err := p.Close(); err != nil {
		return locks.Entry{}, err
	}
	return locks.Entry{
		Name: d.Name, Servers: d.Kind(), Fences: d.Fences, Like: d.Like, Module: d.Version, Command: command,
		Summary: "the program " + command,
		Source:  "another process",
		Limits:  "Runs in real time only.",
		New: func(env locks.Env) (locks.Lock, error) {
			p, err := Start(command)
			if err != nil {
				return nil, err
			}
			return p.Lock(env)
		},
	}, nil
}
