// @rails/actioncable, which reconnects by itself.
(() => {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();

  globalThis.connectToCable = (url) => new Promise((resolve) => {
    const inbox = new Inbox();
    const consumer = ActionCable.createConsumer(url);
    const subscription = consumer.subscriptions.create({ channel: "EchoChannel" }, {
      connected: () => resolve({
        receive: () => inbox.next(),
        send(type, bytes) { subscription.send({ text: decoder.decode(bytes) }); },
        close() { consumer.disconnect(); },
      }),
      received: ({ text }) => inbox.push({ type: "text", bytes: encoder.encode(text) }),
      disconnected: () => inbox.push({ type: "close" }),
    });
  });
})();
