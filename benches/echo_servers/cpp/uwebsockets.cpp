// An echo server of uWebSockets: uwebsockets PORT. It writes once for all that one read brought.
#include "App.h"

struct PerSocketData {};

int main(int, char **arguments) {
  uWS::App()
      .ws<PerSocketData>("/*", {.compression = uWS::DISABLED,
                                .maxPayloadLength = 64 * 1024 * 1024,
                                .maxBackpressure = 64 * 1024 * 1024,
                                .message = [](auto *peer, std::string_view message,
                                              uWS::OpCode opcode) { peer->send(message, opcode); }})
      .listen("127.0.0.1", std::stoi(arguments[1]), [](auto *) {})
      .run();
}
