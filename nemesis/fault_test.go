package nemesis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// faults is one of each kind, with what it says and what it asks of a testbed.
var faults = []struct {
	fault               Fault
	kind, subject, asks string
}{
	{Pause{"A"}, "pause", "A", "Pause(A)"},
	{Kill{"A"}, "kill", "A", "Kill(A)"},
	{Stall{"A"}, "stall", "A", "Stall(A)"},
	{Disturb{[]Link{{"A", "n4"}, {"A", "n5"}}, Disturbance{Cut: true, Direction: Replies}}, "cut", "A-n4 A-n5",
		"Disturb([A-n4 A-n5], {replies true false 0s 0s 0s})"},
	{Disturb{[]Link{{"A", Resource}}, Disturbance{Drop: true, Direction: Requests}}, "drop", "A-resource",
		"Disturb([A-resource], {requests false true 0s 0s 0s})"},
	{Disturb{[]Link{{Primary, Replica}}, Disturbance{Delay: time.Second, Jitter: time.Millisecond}}, "delay", "primary-replica",
		"Disturb([primary-replica], {both false false 1s 1ms 0s})"},
	{Bandwidth{[]Link{{"A", "n4"}}, Requests, time.Second}, "bandwidth", "A-n4", "Disturb([A-n4], {requests false false 0s 0s 1s})"},
	{Reset{[]Link{{"A", "n4"}, {"A", "n5"}}, Replies, 7}, "reset", "A-n4 A-n5", "Reset([A-n4 A-n5], replies, 7)"},
	{Crash{"n3", LoseSecond, time.Second}, "crash", "n3", "CrashNode(n3, 1, 1s)"},
	{ClockStep{"n3", -time.Second}, "clock-step", "n3", "StepClock(n3, -1s)"},
	{ClockRate{"n3", 1.5}, "clock-rate", "n3", "SetClockRate(n3, 1.5)"},
	{Failover{BySentinel}, "failover", Primary, "Failover(1)"},
	{SplitBrain{[]string{"A", "B"}}, "split-brain", "A B", "SplitBrain([A B])"},
}

// target notes what it is asked, and cannot do it.
type target struct{ asked string }

func (t *target) ask(format string, args ...any) (Heal, error) {
	t.asked = fmt.Sprintf(format, args...)
	return nil, ErrUnsupported
}

func (t *target) Pause(client string) (Heal, error) { return t.ask("Pause(%s)", client) }
func (t *target) Kill(client string) (Heal, error)  { return t.ask("Kill(%s)", client) }
func (t *target) Stall(client string) (Heal, error) { return t.ask("Stall(%s)", client) }
func (t *target) Disturb(links []Link, d Disturbance) (Heal, error) {
	return t.ask("Disturb(%v, %v)", links, d)
}
func (t *target) Reset(links []Link, d Direction, after int64) (Heal, error) {
	return t.ask("Reset(%v, %v, %d)", links, d, after)
}
func (t *target) CrashNode(node string, keep Survival, unsynced time.Duration) (Heal, error) {
	return t.ask("CrashNode(%s, %d, %v)", node, keep, unsynced)
}
func (t *target) StepClock(node string, by time.Duration) (Heal, error) {
	return t.ask("StepClock(%s, %v)", node, by)
}
func (t *target) SetClockRate(node string, rate float64) (Heal, error) {
	return t.ask("SetClockRate(%s, %v)", node, rate)
}
func (t *target) Failover(by Promoter) (Heal, error) { return t.ask("Failover(%d)", by) }
func (t *target) SplitBrain(clients []string) (Heal, error) {
	return t.ask("SplitBrain(%v)", clients)
}

func TestAFaultSaysWhatItIsAndAsksForThat(t *testing.T) {
	for _, tt := range faults {
		if got := tt.fault.Kind(); got != tt.kind || strings.ContainsAny(got, " _") {
			t.Errorf("%#v is of kind %q, want %q", tt.fault, got, tt.kind)
		}
		if got := tt.fault.Subject(); got != tt.subject {
			t.Errorf("%s strikes %q, want %q", tt.kind, got, tt.subject)
		}
		var bed target
		if _, err := tt.fault.Inject(&bed); bed.asked != tt.asks || !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s asks for %s (%v), want %s", tt.kind, bed.asked, err, tt.asks)
		}
	}
}

func TestADirectionHasAName(t *testing.T) {
	for direction, want := range map[Direction]string{Both: "both", Requests: "requests", Replies: "replies", 7: "Direction(7)"} {
		if got := direction.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
