package main

import (
	"context"
	"errors"

	"github.com/coder/websocket"
)

type coderConnection struct{ *websocket.Conn }

func dialCoder(url string, deflate bool, _ int) (connection, error) {
	mode := websocket.CompressionDisabled
	if deflate {
		mode = websocket.CompressionContextTakeover
	}
	options := &websocket.DialOptions{CompressionMode: mode, CompressionThreshold: 1}
	conn, _, err := websocket.Dial(context.Background(), url, options)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(-1)
	return &coderConnection{conn}, nil
}

func (c *coderConnection) send(kind string, payload []byte, fragments int) error {
	opcode := map[string]websocket.MessageType{
		"text": websocket.MessageText, "binary": websocket.MessageBinary,
	}[kind]
	if fragments == 1 {
		return c.Write(context.Background(), opcode, payload)
	}
	writer, err := c.Writer(context.Background(), opcode)
	if err != nil {
		return err
	}
	for _, part := range parts(payload, fragments) {
		if _, err := writer.Write(part); err != nil {
			return err
		}
	}
	return writer.Close()
}

func (c *coderConnection) receive() (string, []byte, error) {
	kind, payload, err := c.Read(context.Background())
	if err != nil {
		err = reasonOf(err)
	}
	return map[websocket.MessageType]string{1: "text", 2: "binary"}[kind], payload, err
}

func reasonOf(err error) error {
	var closeError websocket.CloseError
	if errors.As(err, &closeError) {
		return &closed{int(closeError.Code), closeError.Reason}
	}
	return &closed{1006, ""}
}

// It chooses the payload itself, and sees the pong while something is read.
func (c *coderConnection) ping(payload []byte) error {
	if len(payload) > 0 {
		return errSkip
	}
	c.CloseRead(context.Background())
	return c.Ping(context.Background())
}

// It returns nil if the server has answered with the same code.
func (c *coderConnection) close(code int, reason string) error {
	if err := c.Close(websocket.StatusCode(code), reason); err != nil {
		return err
	}
	return &closed{code, reason}
}

func (c *coderConnection) drop() { c.CloseNow() }
