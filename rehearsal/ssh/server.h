#pragma once
// sshd of one virtual node: there while the node is up, public keys only, commands run in the
// virtual shell. Everything on the node's loop.
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <set>

#include "rehearsal/shell/host.h"
#include "rehearsal/ssh/key.h"

struct ssh_bind_struct;

namespace cupel::rehearsal {

class SshConnection;

class SshServer {
 public:
  static constexpr std::size_t kMostConnections = 64;

  /// `authorized` must outlive it.
  SshServer(asio::any_io_executor executor, Host& host, const Key& host_key, const Key& authorized,
            asio::ip::tcp::endpoint endpoint);
  ~SshServer();

  /// Of the RAM system, which has a host key of its own: shown while that is up. The key must
  /// outlive this.
  void show_for_image(const Key& key) { image_key_ = &key; }

  /// Takes the port for as long as the server lives, so that a port of 0 becomes a number; whoever
  /// connects while the node is off is refused. Errors: kConflict.
  Result<void> bind();
  std::uint16_t port() const { return endpoint_.port(); }

  /// Cuts every connection and listens no more.
  void stop();

 private:
  friend class SshConnection;
  Result<void> open();
  void close();
  void accept();
  void took(asio::ip::tcp::socket socket);
  void forget(const std::shared_ptr<SshConnection>& connection);
  void set_host_key();
  const Key& key_of_now();

  asio::any_io_executor executor_;
  Host& host_;
  const Key& host_key_;
  const Key* image_key_ = nullptr;
  const Key& authorized_;
  Key changed_key_{};  // what it shows instead, where a fault says so
  asio::ip::tcp::endpoint endpoint_;
  asio::ip::tcp::acceptor reserved_;  // bound, never listening: nobody else gets the port
  asio::ip::tcp::acceptor acceptor_;
  ssh_bind_struct* bind_ = nullptr;
  std::set<std::shared_ptr<SshConnection>> connections_;
  bool stopped_ = false;
};

}  // namespace cupel::rehearsal
