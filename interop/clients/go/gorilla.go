package main

import (
	"bytes"
	"errors"
	"time"

	"github.com/gorilla/websocket"
)

type gorillaConnection struct {
	*websocket.Conn
	pongs chan []byte
}

// It makes a fragment whenever its buffer is full.
func dialGorilla(url string, deflate bool, frameSize int) (connection, error) {
	dialer := websocket.Dialer{EnableCompression: deflate, WriteBufferSize: frameSize}
	conn, _, err := dialer.Dial(url, nil)
	if err != nil {
		return nil, err
	}
	pongs := make(chan []byte, 1)
	conn.SetPongHandler(func(payload string) error { pongs <- []byte(payload); return nil })
	return &gorillaConnection{conn, pongs}, nil
}

func (c *gorillaConnection) send(kind string, payload []byte, _ int) error {
	return c.WriteMessage(map[string]int{"text": 1, "binary": 2}[kind], payload)
}

func (c *gorillaConnection) receive() (string, []byte, error) {
	kind, payload, err := c.ReadMessage()
	var closeError *websocket.CloseError
	if errors.As(err, &closeError) {
		err = &closed{closeError.Code, closeError.Text}
	} else if err != nil {
		err = &closed{1006, ""}
	}
	return map[int]string{1: "text", 2: "binary"}[kind], payload, err
}

// A pong is handled while something is read.
func (c *gorillaConnection) ping(payload []byte) error {
	if err := c.WriteControl(websocket.PingMessage, payload, time.Time{}); err != nil {
		return err
	}
	go c.receive()
	if !bytes.Equal(<-c.pongs, payload) {
		return errors.New("another pong")
	}
	return nil
}

func (c *gorillaConnection) close(code int, reason string) error {
	message := websocket.FormatCloseMessage(code, reason)
	if err := c.WriteControl(websocket.CloseMessage, message, time.Time{}); err != nil {
		return err
	}
	_, _, err := c.receive()
	return err
}

func (c *gorillaConnection) drop() { c.Close() }
