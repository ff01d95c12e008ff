#pragma once
// HTTPS to BMCs: one request, one response, over libcurl on the one io_context. It keeps each BMC's
// limits (requests in flight, connections), holds certificates against what was pinned, and
// bounds what it reads. Nothing of Redfish in here: that is client.h.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task.h"
#include "bmc/bmc_limits.h"
#include "bmc/redfish/session.h"
#include "bmc/redfish/upload.h"
#include "inventory/endpoint.h"
#include "inventory/trust.h"

namespace cupel::bmc::redfish {

/// Whom to talk to, and what tells that it is really them.
struct Peer {
  std::string node;  // for error texts
  inventory::Endpoint endpoint;
  inventory::Trust trust;
  inventory::KnownKeys* known = nullptr;  // must outlive the transport's use of this peer
  /// Of several nodes that have one BMC: the name by which its pin, sessions and limits are kept;
  /// empty: the node's.
  std::string shared_as{};
  std::string system{};  // which of its Systems is the node; empty: it has one
  /// PEM files by which we show who we are (mutual TLS, RFC 8446, 4.4.2); empty: we show nothing.
  std::string certificate{}, certificate_key{};

  const std::string& bmc() const { return shared_as.empty() ? node : shared_as; }
  std::string pin() const { return "bmc:" + bmc(); }
};

enum class Method { get, post, patch, remove };
std::string_view to_string(Method method);

struct Request {
  Method method = Method::get;
  std::string path;                    // "/redfish/v1/..."
  std::vector<std::string> headers{};  // "If-Match: *"
  std::string body{};                  // JSON, where `content_type` does not say otherwise
  std::string content_type = "application/json";  // of the body
  std::optional<Basic> basic{};
  /// How much longer to wait for the answer once the caller was cancelled: for what must not be
  /// left half done (a login whose session nobody would know).
  std::chrono::milliseconds grace{0};
  /// There is a password in it: it goes out only where the certificate was presented in the very
  /// handshake of its connection, never over a resumed session. Basic implies it.
  bool secret = false;
  bool slow = false;         // its answer takes minutes: it waits in the slow lane
  bool close_after = false;  // the BMC breaks connections that are kept
  bool long_answer = false;  // a log: Limits::log_bytes
};

struct Response {
  /// Those of today's BMCs have 20 to 64 characters.
  static constexpr std::size_t kLongestToken = 4096;

  int status = 0;
  std::string body{};
  std::string content_type{};
  std::string etag{};
  std::string location{};
  std::string token{};                       // X-Auth-Token
  bool asks_for_basic = false;               // WWW-Authenticate, RFC 9110, 11.6.1
  std::chrono::milliseconds retry_after{0};  // 0: not given
  bool cut_short = false;                    // it came before the whole of an upload had gone out
};

struct Limits {
  std::size_t response_bytes = 4u << 20;  // ten times what the largest real document has
  std::size_t log_bytes = 8u << 20;       // where a request says that its answer is long
  int requests_per_bmc = 2;
  int connections = 1024;  // to all BMCs together
  int redirects = 3;
  int uploads = 64;  // to all BMCs together, some 400 KiB each
  /// An upload of which no byte moved for so long is broken off: by the BMC, or by the disk.
  std::chrono::milliseconds upload_stall{60'000};
  /// Once all of it has gone out. Some check the image before they answer: OpenBMC for up to 50 s.
  std::chrono::milliseconds upload_answer{360'000};
};

/// An answer that is read piece by piece: events, which have no end, or a file. Must go before its
/// transport.
class Stream {
 public:
  virtual ~Stream() = default;
  /// What came since. Empty: a file has ended, and is whole as HTTP has it; events never are.
  /// Cancel-safe: nothing that came is lost.
  /// Errors: kTimeout; kUnreachable (it ended, or broke off); kCancelled.
  virtual Task<Result<std::string>> read(Deadline deadline) = 0;
  /// Of the answer's head.
  virtual int status() const = 0;
};

/// How connections to one BMC began.
struct Handshakes {
  int full = 0;     // a certificate was presented
  int resumed = 0;  // a TLS session was
};

/// One for the whole process; used from one thread.
class Transport {
 public:
  /// `memory`, where there is one, must outlive the transport.
  explicit Transport(asio::any_io_executor executor, Limits limits = {}, Memory* memory = nullptr);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  ~Transport();

  /// Sends it and returns the answer, whatever its status. Every secret that this BMC was ever sent
  /// is taken out of what it answers, and out of errors: see sent_secrets.h. A GET is sent once
  /// more on a fresh connection where a kept one turned out to be dead; nothing else is ever sent
  /// twice. Redirects of a GET are followed on the same BMC only. Cancel-safe. Errors: kTimeout,
  /// kUnreachable, kUntrusted, kCancelled, kBusy (too many wait), kMalformed (over the limit, no
  /// memory left for this BMC, or not HTTP), kInvalid (a bad path; a CA file that cannot be read;
  /// two nodes with one endpoint).
  Task<Result<Response>> send(Peer peer, Request request, Deadline deadline);

  /// Sends a file, one at a time to each BMC, and returns the answer, whatever its status. The file
  /// is never in memory as a whole; what has its size and SHA-256 wrong is broken off before its
  /// last bytes. Never sent twice. Cancel-safe. Errors: as send, and as FileFeed::failure; each
  /// says whether the BMC may have all of it.
  Task<Result<Response>> upload(Peer peer, Request request, Upload file, Deadline deadline);

  /// Sends a GET whose answer is a stream, over a connection of its own, outside of the requests
  /// that the BMC gets at a time. Returns when its head came and says 200.
  /// Errors: as send; kUnsupported where the answer is of another type than `type`, or not 200.
  Task<Result<std::unique_ptr<Stream>>> open_stream(Peer peer, Request request, std::string type,
                                                    Deadline deadline);

  /// The same for a file, of whatever type and status: see Stream::status. Its bytes are as they
  /// came: no secret is taken out of them. At most 256 KiB wait for their reader.
  Task<Result<std::unique_ptr<Stream>>> open_file(Peer peer, Request request, Deadline deadline);

  /// The certificate that a BMC presents, "SHA256:...". Sends no request and verifies nothing.
  /// Errors: kTimeout, kUnreachable, kCancelled.
  Task<Result<std::string>> presented_certificate(inventory::Endpoint endpoint, Deadline deadline);

  /// What everything that talks to a node's BMC shares, whatever protocol. Each lives as long as
  /// the transport.
  AllBmcLimits& all_bmc_limits();
  BmcLimits& bmc_limits(const std::string& node);
  /// As it is now; nothing where this process has not asked that BMC.
  std::optional<Budget> budget(const std::string& node);

  /// The sessions that this process has with a node's BMC.
  Sessions& sessions(const std::string& node);

  Handshakes handshakes(const inventory::Endpoint& endpoint) const;
  /// Whose this address is, as far as this process knows; empty: nobody's.
  std::string owner(const inventory::Endpoint& endpoint) const;
  /// It turned out to be nobody that we know.
  void disown(const inventory::Endpoint& endpoint);

 private:
  class Streaming;
  enum class Carries;
  Task<Result<std::unique_ptr<Stream>>> opened(Peer peer, Request request, Carries what,
                                               std::string type, Deadline deadline);
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace cupel::bmc::redfish
