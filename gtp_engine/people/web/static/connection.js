// A WebSocket that comes back: JSON messages in both directions, and a new attempt whenever the connection is lost.

const FIRST_DELAY = 500; // milliseconds, doubled with each failure
const LONGEST_DELAY = 8000;

export class Connection {
  /** Connect to `path` of this server; `onOpen()`, `onMessage(data)` and `onLost()` tell what happens. */
  constructor(path, { onOpen = () => {}, onMessage, onLost = () => {} }) {
    this.path = path;
    this.onOpen = onOpen;
    this.onMessage = onMessage;
    this.onLost = onLost;
    this.delay = FIRST_DELAY;
    this.isClosed = false;
    this.open();
  }

  open() {
    const url = new URL(this.path, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.hash = "";
    this.socket = new WebSocket(url);
    this.socket.onopen = () => {
      this.delay = FIRST_DELAY;
      this.onOpen();
    };
    this.socket.onmessage = (event) => this.onMessage(JSON.parse(event.data));
    this.socket.onclose = () => {
      if (this.isClosed) return;
      this.onLost();
      setTimeout(() => this.isClosed || this.open(), this.delay);
      this.delay = Math.min(LONGEST_DELAY, 2 * this.delay);
    };
  }

  get isOpen() {
    return this.socket.readyState === WebSocket.OPEN;
  }

  /** Send a message; false if there is no connection at the moment. */
  send(message) {
    if (!this.isOpen) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.isClosed = true;
    this.socket.close();
  }
}
