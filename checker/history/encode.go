package history

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// appendJSON appends an event that has a type to b as encoding/json writes it, without a newline. By hand because every
// event of every simulated run passes here; a test holds the bytes to those of encoding/json.
func appendJSON(b []byte, e Event) []byte {
	b = strconv.AppendInt(append(b, `{"index":`...), int64(e.Index), 10)
	b = strconv.AppendInt(append(b, `,"time_ns":`...), int64(e.Time), 10)
	b = appendString(append(b, `,"process":`...), e.Process)
	b = appendText(b, `,"role":`, e.Role.String())
	b = append(append(b, `,"type":"`...), e.Type.String()...)
	b = appendString(append(b, `","op":`...), string(e.Op))
	b = appendText(b, `,"resource":`, e.Resource)
	b = appendText(b, `,"lease":`, e.Lease)
	b = appendText(b, `,"by":`, e.By)
	b = appendNumber(b, `,"value":`, e.Value)
	b = appendNumber(b, `,"version":`, e.Version)
	b = appendNumber(b, `,"fence":`, e.Fence)
	b = appendNumber(b, `,"until_ns":`, int64(e.Until))
	b = appendText(b, `,"error":`, e.Error)
	b = appendDetail(b, e.Detail)
	return append(b, '}')
}

// appendText appends an optional field.
func appendText(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(append(b, key...), value)
}

// appendNumber appends an optional field.
func appendNumber(b []byte, key string, value int64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), value, 10)
}

// appendDetail appends the optional map with its keys in order, so that equal events have equal bytes.
func appendDetail(b []byte, detail map[string]string) []byte {
	if len(detail) == 0 {
		return b
	}
	b = append(b, `,"detail":`...)
	separator := byte('{')
	for _, key := range slices.Sorted(maps.Keys(detail)) {
		b = appendString(append(b, separator), key)
		b = appendString(append(b, ':'), detail[key])
		separator = ','
	}
	return append(b, '}')
}

// appendString quotes s. Text that needs an escape is rare and goes through encoding/json.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(b, quoted...)
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}
