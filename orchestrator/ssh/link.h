#pragma once
// One TCP connection with one libssh session on it. libssh speaks the protocol and never blocks;
// this is the only place that waits, and it waits on Asio.
#include <boost/asio/ip/tcp.hpp>

#include "base/task.h"
#include "inventory/endpoint.h"
#include "orchestrator/ssh/libssh.h"

namespace cupel::ssh {

class Link {
 public:
  /// Takes a connected socket. libssh gets a duplicate of its descriptor, because libssh closes its
  /// own whenever the other side goes, and Asio's must stay valid until Asio lets go of it.
  explicit Link(asio::ip::tcp::socket socket);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  ssh_session session() const { return session_; }
  bool alive() const { return !broken_ && ssh_is_connected(session_) != 0; }

  /// After the handshake, and before pump().
  void open_for_channels();

  /// Calls `step` until it returns something else than `again`, waiting for the socket in between.
  /// Errors: kCancelled; kUnreachable where the connection broke.
  template <class Step>
  Task<Result<int>> settle(Step step, int again) {
    for (;;) {
      const int outcome = step();
      if (outcome != again) co_return outcome;
      CO_TRY(co_await ready());
    }
  }

  /// Waits until the socket has something for libssh, or takes what libssh has for it.
  /// Errors: kCancelled; kUnreachable where the connection broke.
  Task<Result<void>> ready();

  /// Lets libssh take in one piece of what has come, and call back. False: nothing had come.
  bool pump();

  /// kUnreachable with libssh's words.
  Error broken(std::string_view attempt) const;

 private:
  Task<Result<void>> wait_for(bool writable);

  asio::ip::tcp::socket socket_;
  ssh_session session_;
  ssh_event event_;
  unsigned turns_ = 0;
  bool joined_ = false;
  bool broken_ = false;
};

/// Connects. Errors: kUnreachable, kCancelled; with_deadline for the rest.
Task<Result<asio::ip::tcp::socket>> dial(inventory::Endpoint endpoint);

}  // namespace cupel::ssh
