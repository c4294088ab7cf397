package nemesis

import (
	"reflect"
	"testing"
	"time"
)

func TestATriggerReadsWell(t *testing.T) {
	for want, trigger := range map[string]Trigger{
		"at 0s":            {},
		"at 1.5s":          {At: 1500 * time.Millisecond},
		"after A acquired": {Moment: Moment{Edge: After, Client: "A", Op: "acquire"}},
		"after B wrote (2) + 100ms": {
			At: 100 * time.Millisecond, Moment: Moment{Edge: After, Client: "B", Op: "write", Nth: 2}},
		"after A was refused extend":           {Moment: Moment{Edge: After, Client: "A", Op: "extend", Refused: true, Nth: 1}},
		"before A releases":                    {Moment: Moment{Edge: Before, Client: "A", Op: "release", Nth: 1}},
		"after all nodes answered A's acquire": {Moment: Moment{Edge: Answered, Client: "A", Op: "acquire", Nodes: AllOfThem}},
		"after n3 answered A's release":        {Moment: Moment{Edge: Answered, Client: "A", Op: "release", Node: "n3"}},
		"after 1 node granted A":               {Moment: Moment{Edge: Granted, Client: "A", Op: "acquire", Nodes: 1}},
		"after 3 nodes granted A (2)":          {Moment: Moment{Edge: Granted, Client: "A", Op: "acquire", Nodes: 3, Nth: 2}},
		"after 2 nodes answered B's extend + 1s": {
			At: time.Second, Moment: Moment{Edge: Answered, Client: "B", Op: "extend", Nodes: 2}},
	} {
		if got := trigger.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyTheZeroTriggerIsUnset(t *testing.T) {
	for trigger, want := range map[Trigger]bool{
		{}: true, {At: 1}: false, {Moment: Moment{Edge: Before}}: false, {Moment: Moment{Nth: 1}}: false,
	} {
		if got := trigger.IsZero(); got != want {
			t.Errorf("%+v is unset: %v", trigger, got)
		}
	}
}

func TestScalingReachesEveryDurationAndNothingElse(t *testing.T) {
	moment := Moment{Edge: After, Client: "A", Op: "acquire", Nth: 1}
	make := func(unit time.Duration) Schedule {
		return Schedule{
			{Fault: Pause{"A"}, When: Trigger{At: 2 * unit}, For: 4 * unit, Optional: true},
			{Fault: ClockRate{"n1", 2}, When: Trigger{6 * unit, moment}, Until: Trigger{8 * unit, moment}},
			{Fault: ClockStep{"n1", -10 * unit}},
			{Fault: Disturb{[]Link{{"A", "n1"}}, Disturbance{Direction: Replies, Delay: 12 * unit, Jitter: 14 * unit}}},
			{Fault: Crash{"n1", LoseSecond, 16 * unit}},
			{Fault: Bandwidth{[]Link{{"A", "n1"}}, Both, 18 * unit}},
			{Fault: Reset{[]Link{{"A", "n1"}}, Both, 20}},
		}
	}
	schedule := make(time.Second)
	got := schedule.Scaled(func(d time.Duration) time.Duration { return d / 2 })
	if want := make(time.Second / 2); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got[3].Fault.(Disturb).Links[0] = Link{"B", "n2"}
	got[5].Fault.(Bandwidth).Links[0] = Link{"B", "n2"}
	got[6].Fault.(Reset).Links[0] = Link{"B", "n2"}
	if !reflect.DeepEqual(schedule, make(time.Second)) {
		t.Errorf("the schedule itself is now %+v", schedule)
	}
}
