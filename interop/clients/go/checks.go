// client gorilla|coder URL plain|deflate
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// What a library does, each with errSkip if it has no way to.
type connection interface {
	// kind is "text" or "binary".
	send(kind string, payload []byte, fragments int) error
	// The error is a *closed at the end.
	receive() (kind string, payload []byte, err error)
	// Returns when the pong with the same payload is there.
	ping(payload []byte) error
	// Closes; the error is what the server has answered, a *closed.
	close(code int, reason string) error
	drop()
}

type closed struct {
	code   int
	reason string
}

func (c *closed) Error() string { return fmt.Sprintf("closed with %d %s", c.code, c.reason) }

var errSkip = errors.New("it has no way to do so")

// frameSize: of the largest frame that is sent.
var dial func(url string, deflate bool, frameSize int) (connection, error)

// What it repeats is of a prime length: whatever is at the wrong place is noticed. Text is not cut
// within a character: it ends with dots.
func fill(name string, size int) []byte {
	payload := make([]byte, size)
	unit := []byte("a😀é漢!")
	for i := range payload {
		switch {
		case name == "ascii":
			j := i % 6661
			payload[i] = byte(97 + (j+(j>>8))%26)
		case name == "bytes":
			j := i % 65521
			payload[i] = byte(j*31 + (j>>8)*17)
		case i < size-size%len(unit):
			payload[i] = unit[i%len(unit)]
		default:
			payload[i] = '.'
		}
	}
	return payload
}

func parts(payload []byte, count int) [][]byte {
	size := (len(payload) + count - 1) / count
	result := make([][]byte, count)
	for i := range result {
		result[i] = payload[min(i*size, len(payload)):min((i+1)*size, len(payload))]
	}
	return result
}

type checks struct {
	url      string
	deflate  bool
	settings map[string]string
}

func (c *checks) open(frameSize int) (connection, error) {
	conn, err := dial(c.url, c.deflate, frameSize+len(c.settings["before"])+len(c.settings["after"]))
	if err != nil || c.settings["hello"] == "" {
		return conn, err
	}
	if err := conn.send("text", []byte(c.settings["hello"]), 1); err != nil {
		return nil, err
	}
	_, _, err = c.receive(conn)
	return conn, err
}

func (c *checks) receive(conn connection) (string, []byte, error) {
	ignore := c.settings["ignore"]
	for {
		kind, payload, err := conn.receive()
		if err != nil || ignore == "" || !bytes.HasPrefix(payload, []byte(ignore)) {
			return kind, payload, err
		}
	}
}

func (c *checks) within(before string, payload []byte, after string) []byte {
	return []byte(c.settings[before] + string(payload) + c.settings[after])
}

func (c *checks) send(conn connection, kind string, payload []byte, fragments int) error {
	return conn.send(kind, c.within("before", payload, "after"), fragments)
}

func (c *checks) expectEcho(conn connection, kind string, payload []byte) error {
	gotKind, got, err := c.receive(conn)
	if err != nil {
		return err
	}
	if gotKind != kind || !bytes.Equal(got, c.within("reply_before", payload, "reply_after")) {
		return fmt.Errorf("%s of %d other bytes came back", gotKind, len(got))
	}
	return nil
}

func (c *checks) expectClosed(err error, codes string, reason string) error {
	var end *closed
	if !errors.As(err, &end) {
		return fmt.Errorf("it was not closed: %v", err)
	}
	for _, code := range strings.Split(codes, ",") {
		if strconv.Itoa(end.code) == code && (reason == "*" || reason == end.reason) {
			return nil
		}
	}
	return end
}

// Receives until the connection ends.
func (c *checks) end(conn connection) error {
	_, _, err := c.receive(conn)
	for err == nil {
		_, _, err = c.receive(conn)
	}
	return err
}

func (c *checks) echo(conn connection, kind string, payload []byte, fragments int) error {
	if err := c.send(conn, kind, payload, fragments); err != nil {
		return err
	}
	return c.expectEcho(conn, kind, payload)
}

func (c *checks) burst(conn connection, count int) error {
	kinds := []string{"text", "binary"}
	fills := []string{"emoji", "bytes"}
	for i := 0; i < count; i++ {
		if err := c.send(conn, kinds[i%2], fill(fills[i%2], i*37), 1); err != nil {
			return err
		}
	}
	for i := 0; i < count; i++ {
		if err := c.expectEcho(conn, kinds[i%2], fill(fills[i%2], i*37)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checks) restart(conn connection) error {
	payload := fill("ascii", 200)
	if err := c.echo(conn, "text", payload, 1); err != nil {
		return err
	}
	fmt.Println("restart")
	c.end(conn)
	var err error
	for attempts := 0; attempts <= 300; attempts++ {
		var again connection
		if again, err = c.open(200); err == nil {
			defer again.drop()
			return c.echo(again, "text", payload, 1)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func (c *checks) check(name string, words []string) error {
	number := func(i int) int {
		value, err := strconv.Atoi(words[i])
		if err != nil {
			panic(err)
		}
		return value
	}
	frameSize := 1 << 16
	if name == "echo" {
		frameSize = (number(2) + number(3) - 1) / number(3)
	} else if name == "too_big" {
		frameSize = number(0)
	}
	conn, err := c.open(frameSize)
	if err != nil {
		return err
	}
	defer conn.drop()

	switch name {
	case "echo":
		return c.echo(conn, words[0], fill(words[1], number(2)), number(3))
	case "burst":
		return c.burst(conn, number(0))
	case "ping":
		return conn.ping(fill("bytes", number(0)))
	case "close": // the client closes first
		err := conn.close(number(0), words[1])
		if err == errSkip {
			return err
		}
		return c.expectClosed(err, words[0], words[1])
	case "closed": // the server closes first, as it is told to
		if err := conn.send("text", []byte("close "+words[0]+" "+words[1]), 1); err != nil {
			return err
		}
		return c.expectClosed(c.end(conn), words[0], words[1])
	case "pinged": // the server pings, and says when the pong has come
		if err := conn.send("text", []byte("ping"), 1); err != nil {
			return err
		}
		return c.expectEcho(conn, "text", []byte("pong"))
	case "too_big": // the close has to arrive while this client is still sending
		go conn.send("binary", make([]byte, number(0)), 1)
		return c.expectClosed(c.end(conn), words[1], "*")
	case "invalid_utf8":
		if err := conn.send("text", []byte{'a', 255}, 1); err != nil {
			return err
		}
		return c.expectClosed(c.end(conn), "1007", "*")
	case "restart":
		return c.restart(conn)
	}
	return fmt.Errorf("no such check")
}

func main() {
	dial = map[string]func(string, bool, int) (connection, error){
		"gorilla": dialGorilla, "coder": dialCoder,
	}[os.Args[1]]
	c := &checks{url: os.Args[2], deflate: os.Args[3] == "deflate", settings: map[string]string{}}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Split(lines.Text(), " ")
		if words[0] == "set" {
			c.settings[words[1]] = strings.Join(words[2:], " ")
			continue
		}
		switch err := c.check(words[0], words[1:]); err {
		case nil:
			fmt.Println("ok", lines.Text())
		case errSkip:
			fmt.Printf("skip %s: %v\n", lines.Text(), err)
		default:
			fmt.Printf("fail %s: %v\n", lines.Text(), err)
		}
	}
}
