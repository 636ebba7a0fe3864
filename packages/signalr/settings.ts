/** Every time of the protocol, in milliseconds; all may be scaled together. */
export interface Times {
  /** How often everything below is looked at, which is also its precision. */
  sweepMs: number
  /** From attaching to the handshake. */
  handshakeMs: number
  /** Ping interval; below 30 s, when the official client gives up. */
  pingMs: number
  /** Longest silence of a client that has pinged once. */
  clientSilenceMs: number
  /** Longest poll; below 100 s, when official clients give up, and below proxy timeouts. */
  pollMs: number
  /** How long a connection without a request or socket is kept. */
  detachedMs: number
  /** Lifetime of a ticket; longer than a browser waits for a WebSocket that a proxy swallows. */
  ticketMs: number
  /** How long written bytes may lie without moving. */
  sendMs: number
  /** How long an end may take: the close handshake of a WebSocket, the last bytes of a stream. */
  closeMs: number
  /** How long closing the hub waits for its clients to be told. */
  shutdownMs: number
  /** Between two pings of the WebSocket itself; the third that finds two unanswered ends it. */
  webSocketPingMs: number
  /** From the end of a token to the end of its connections. */
  expiryGraceMs: number
}

/** The times of ASP.NET Core, and for tickets and the last three our own. */
export const defaultTimes: Times = {
  sweepMs: 1_000,
  handshakeMs: 15_000,
  pingMs: 15_000,
  clientSilenceMs: 30_000,
  pollMs: 90_000,
  detachedMs: 15_000,
  ticketMs: 300_000,
  sendMs: 10_000,
  closeMs: 5_000,
  shutdownMs: 2_000,
  webSocketPingMs: 30_000,
  expiryGraceMs: 5_000,
}

export interface Limits {
  /** One record of a client, separator included. */
  recordBytesMax: number
  /** One WebSocket message or one POST of a client. */
  bodyBytesMax: number
  /** Bytes queued for one client. */
  backlogBytesMax: number
  connectionsMax: number
  connectionsPerUserMax: number
  connectionsPerAddressMax: number
  /** Negotiated and not attached. */
  waitingMax: number
  negotiationsPerMinuteMax: number
}

/** High enough for an office behind one address, many tabs, and a reconnect of all clients. */
export const defaultLimits: Limits = {
  recordBytesMax: 32_768,
  bodyBytesMax: 1_048_576,
  backlogBytesMax: 1_048_576,
  connectionsMax: 20_000,
  connectionsPerUserMax: 100,
  connectionsPerAddressMax: 2_000,
  waitingMax: 5_000,
  negotiationsPerMinuteMax: 300,
}
