package nemesis

// Kill ends a client for good, as SIGKILL does. What it had handed to the network still arrives.
type Kill struct{ Client string }

func (f Kill) Kind() string                  { return "kill" }
func (f Kill) Subject() string               { return f.Client }
func (f Kill) Inject(t Target) (Heal, error) { return t.Kill(f.Client) }
