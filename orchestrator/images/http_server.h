#pragma once
// HTTP and HTTPS for many who fetch files: threads of its own, and others that wait for disks
// (disk_threads.h), so that a slow disk keeps nobody waiting but those who read from it; the kernel
// copies files where nothing is encrypted. Slow,
// silent and greedy peers are cut off. What is answered is the handler's.
#include <boost/asio/ip/tcp.hpp>

#include "base/task.h"
#include "orchestrator/images/disk_threads.h"
#include "orchestrator/images/http_message.h"

namespace cupel::images {

struct HttpOptions {
  asio::ip::tcp::endpoint endpoint{};  // a port of 0 becomes a number
  std::string host{};                  // in URLs; empty: the endpoint's address
  /// PEM, of a certificate that those who fetch trust; empty: HTTP.
  std::string certificate{}, key{};
  bool plain_too = false;  // with a certificate: who begins in plain HTTP is answered as well
  int threads = 2;
  /// A quarter is kept for peers that were served something within the last hour.
  std::size_t connections = 4096;
  std::size_t connections_per_peer = 0;    // 0: as many as there may be
  std::uint32_t body_limit = 0;            // of a request
  std::chrono::seconds head_patience{10};  // for a request
  std::chrono::seconds idle{60};           // no byte moved
  DiskThreads::Limits disk{};
  DiskThreads::Read read{};  // empty: OpenFile::read
  /// A peer that did not finish the TLS handshake, and OpenSSL's words; called on the server's
  /// threads.
  std::function<void(const asio::ip::address& peer, const std::string& why)> no_handshake{};
};

class HttpServer {
 public:
  /// Called on the server's threads, several at a time; must not wait.
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  /// `what` is named in errors: kConflict (the address is taken); kInvalid (the certificate or its
  /// key).
  static Result<std::unique_ptr<HttpServer>> start(std::string_view what, HttpOptions options,
                                                   Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Cuts every connection; then the handler is not called any more.
  ~HttpServer();

  /// What connections that begin from now on are shown, in place of the certificate that it was
  /// started with. Callable while it serves. Errors: kInvalid (the certificate or its key; it
  /// serves plain HTTP): then the one before goes on being shown.
  Result<void> renew_certificate(const std::string& certificate, const std::string& key);

  /// "http://10.0.0.1:8080"
  const std::string& url() const;
  std::uint16_t port() const;

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::images
