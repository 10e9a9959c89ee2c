// An echo server of gorilla/websocket: `gorilla PORT`.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/gorilla/websocket"
)

func echo(writer http.ResponseWriter, request *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	peer, err := upgrader.Upgrade(writer, request, nil)
	if err != nil {
		return
	}
	defer peer.Close()
	for {
		kind, payload, err := peer.ReadMessage()
		if err != nil {
			return
		}
		if err = peer.WriteMessage(kind, payload); err != nil {
			return
		}
	}
}

func main() {
	http.HandleFunc("/", echo)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
