#pragma once
// Images over HTTP or HTTPS, for BMCs that fetch what they write and for machines that boot: each
// under an URL that nobody can guess, that ends, and that may be one peer's alone. Threads of its
// own, so that a slow disk keeps nobody waiting but those who read from it. It serves what was
// granted and knows no folder.
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/task.h"
#include "orchestrator/images/disk_threads.h"

namespace cupel::images {

struct ImageServerOptions {
  asio::ip::tcp::endpoint endpoint{};  // a port of 0 becomes a number
  std::string host{};                  // in URLs; empty: the endpoint's address
  /// PEM, of a certificate that those who fetch trust; empty: HTTP.
  std::string certificate{}, key{};
  /// OpenSSL's words for a handshake that a peer did not finish; called on the server's threads.
  std::function<void(const asio::ip::address& peer, const std::string& why)> no_handshake{};
  int threads = 2;
  std::size_t connections = 4096, connections_per_peer = 64;  // 0: as many as there may be
  std::chrono::seconds head_patience{10};                     // for a request's head
  std::chrono::seconds idle{60};                              // no byte moved
  DiskThreads::Limits disk{};
  DiskThreads::Read read{};  // empty: OpenFile::read
};

struct Grant {
  std::string file{};      // a regular file, no link
  OpenFile::Ptr opened{};  // instead of it: what was checked, and cannot be changed any more
  std::string name{};      // the URL's last part: letters, digits, "._-"
  std::chrono::seconds lifetime{3600};
  std::optional<asio::ip::address> peer{};  // nobody else is answered
  /// Over HTTP alone, although the server has a certificate; else over HTTPS alone, if it has one.
  bool plain = false;
};

/// One request that was answered, or broke off.
struct Access {
  std::string url{};  // its last part alone: the rest is a secret
  std::string peer{};
  int status = 0;
  std::uint64_t bytes = 0;  // of the file
  bool whole = false;       // all that was asked for went out
};

class ImageServer {
 public:
  using Log = std::function<void(Access)>;

  /// `log` is called on `executor`. Errors: kConflict (the address is taken); kInvalid (the
  /// certificate or its key).
  static Result<std::unique_ptr<ImageServer>> start(asio::any_io_executor executor,
                                                    ImageServerOptions options, Log log = {});
  ImageServer(const ImageServer&) = delete;
  ImageServer& operator=(const ImageServer&) = delete;
  /// Cuts every connection.
  ~ImageServer();

  /// The URL. The file is opened now: what is put in its place later is not served. Errors:
  /// kNotFound; kInvalid (a link, a folder, a bad name); kConflict (too many).
  Result<std::string> grant(Grant grant);
  /// Transfers that are under way end. Unknown: nothing.
  void revoke(const std::string& url);

  /// As HttpServer::renew_certificate.
  Result<void> renew_certificate(const std::string& certificate, const std::string& key);

  std::uint16_t port() const;

 private:
  struct Impl;
  explicit ImageServer(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace cupel::images
