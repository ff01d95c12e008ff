#include "bmc/redfish/transport.h"

#include <curl/curl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <unordered_set>

#include "base/text.h"
#include "bmc/redfish/reactor.h"
#include "bmc/redfish/tls.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::post:
      return "POST";
    case Method::patch:
      return "PATCH";
    case Method::remove:
      return "DELETE";
  }
  __builtin_unreachable();
}

namespace {

using namespace std::chrono_literals;
constexpr auto kConnectPatience = 15s;
constexpr auto kLongestRetryAfter = 1h;

/// What is known of one endpoint, for as long as the process lives.
struct Host {
  explicit Host(int width) : courtesy{width} {}
  std::string node;
  Courtesy courtesy;
  PinCheck check;
};

/// One request on its way through curl. Lives in the frame of the coroutine that waits for it.
struct Transfer {
  explicit Transfer(const asio::any_io_executor& executor) : wake{executor} {}
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  Response response{};
  std::size_t limit = 0;
  bool too_large = false;
  bool done = false;
  CURLcode outcome = CURLE_OK;
  std::string reason = std::string(CURL_ERROR_SIZE, '\0');
  asio::steady_timer wake;
};

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* argument) {
  auto& transfer = *static_cast<Transfer*>(argument);
  if (transfer.response.body.size() + count > transfer.limit) {
    transfer.too_large = true;
    return 0;  // curl ends the transfer with CURLE_WRITE_ERROR
  }
  transfer.response.body.append(bytes, count);
  return count;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* argument) {
  auto& response = static_cast<Transfer*>(argument)->response;
  const std::string_view line{bytes, count};
  if (line.starts_with("HTTP/")) response = Response{};  // an interim answer (100) came before
  const auto colon = line.find(':');
  if (colon == line.npos) return count;
  const auto name = lower_case(line.substr(0, colon));
  const std::string value{trimmed(line.substr(colon + 1))};
  if (name == "content-type") response.content_type = value;
  if (name == "etag") response.etag = value;
  if (name == "location") response.location = value;
  if (name == "x-auth-token") response.token = value;
  return count;
}

CURLcode on_ssl_context(CURL*, void* ssl_context, void* argument) {
  hold_certificate_against(ssl_context, *static_cast<PinCheck*>(argument));
  return CURLE_OK;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool connection_broke(CURLcode outcome) {
  return outcome == CURLE_RECV_ERROR || outcome == CURLE_SEND_ERROR ||
         outcome == CURLE_GOT_NOTHING || outcome == CURLE_PARTIAL_FILE;
}

Code code_of(CURLcode outcome) {
  switch (outcome) {
    case CURLE_OPERATION_TIMEDOUT:
      return Code::kTimeout;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_ISSUER_ERROR:
      return Code::kUntrusted;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_URL_MALFORMAT:
      return Code::kInvalid;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_WRITE_ERROR:
    case CURLE_HTTP2:
      return Code::kMalformed;
    default:
      return Code::kUnreachable;
  }
}

}  // namespace

// curl says which sockets it waits on and when its next timer is due; the reactor says when that
// came true.
struct Transport::Impl : std::enable_shared_from_this<Transport::Impl> {
  Impl(asio::any_io_executor on, Limits bounds)
      : executor{std::move(on)},
        limits{bounds},
        reactor{std::make_shared<Reactor>(
            executor, [this](int fd, int event) { act(fd, event); },
            [this] { act(CURL_SOCKET_TIMEOUT, 0); })},
        multi{curl_multi_init()} {
    static_assert(Reactor::kRead == CURL_CSELECT_IN && Reactor::kWrite == CURL_CSELECT_OUT);
    static_assert(Reactor::kRead == CURL_POLL_IN && Reactor::kWrite == CURL_POLL_OUT);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Impl::on_socket);
    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Impl::on_timer);
    curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, long{limits.connections});
    curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, long{limits.connections});
    curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, long{limits.requests_per_bmc});
  }

  ~Impl() {
    for (CURL* easy : spare) curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);  // closes the kept connections, and says so to close_socket
    reactor->stop();
  }

  // A kept connection stays with the reactor while nobody uses it, though curl says "remove" after
  // each answer. That is safe for sockets whose closing we see; others (the resolver's) go at once.
  static curl_socket_t open_socket(void* self, curlsocktype, curl_sockaddr* address) {
    const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= 0) static_cast<Impl*>(self)->ours.insert(fd);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
  }

  static int close_socket(void* self, curl_socket_t fd) {
    auto& impl = *static_cast<Impl*>(self);
    impl.ours.erase(fd);
    impl.reactor->forget(fd);
    return ::close(fd);
  }

  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
    auto& impl = *static_cast<Impl*>(self);
    const bool remove = what == CURL_POLL_REMOVE;
    if (remove && !impl.ours.contains(fd)) impl.reactor->forget(fd);
    if (remove && !impl.ours.contains(fd)) return 0;
    return impl.reactor->watch(fd, remove ? 0 : what) ? 0 : -1;
  }

  static int on_timer(CURLM*, long milliseconds, void* self) {
    using Patience = std::optional<std::chrono::milliseconds>;
    const auto patience = milliseconds < 0 ? Patience{} : std::chrono::milliseconds{milliseconds};
    static_cast<Impl*>(self)->reactor->set_timer(patience);
    return 0;
  }

  void act(curl_socket_t fd, int events) {
    int running = 0;
    curl_multi_socket_action(multi, fd, events, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      Transfer* transfer = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
      transfer->outcome = message->data.result;
      transfer->done = true;
      transfer->wake.cancel();
    }
  }

  CURL* take_easy() {
    if (spare.empty()) return curl_easy_init();
    CURL* easy = spare.back();
    spare.pop_back();
    return easy;
  }

  void give_back(CURL* easy) {
    curl_easy_reset(easy);
    if (spare.size() < 64) {
      spare.push_back(easy);
    } else {
      curl_easy_cleanup(easy);
    }
  }

  Host& host(const inventory::Endpoint& endpoint) {
    auto& found = hosts[endpoint];
    if (!found) found = std::make_unique<Host>(limits.requests_per_bmc);
    return *found;
  }

  Task<Result<Response>> exchange(const Peer& peer, Host& host, const Request& request,
                                  std::string path, Deadline deadline);
  Task<Result<Response>> once(const Peer& peer, Host& host, const Request& request,
                              const std::string& path, bool fresh, bool& was_kept,
                              Deadline deadline);
  static Task<void> wait_until_done(Transfer& transfer, Deadline deadline,
                                    std::chrono::milliseconds grace);
  Result<void> trust(const Peer& peer, Host& host, Transfer& transfer);
  void prepare(Transfer& transfer, const Request& request, const std::string& url, bool fresh,
               Deadline deadline);
  Result<Response> concluded(const Peer& peer, Host& host, Transfer& transfer);

  asio::any_io_executor executor;
  Limits limits;
  std::unordered_set<curl_socket_t> ours;  // opened by open_socket
  std::map<inventory::Endpoint, std::unique_ptr<Host>> hosts;
  std::vector<CURL*> spare;
  std::shared_ptr<Reactor> reactor;
  CURLM* multi;
};

namespace {

/// Takes the handle off curl on every way out, cancelled or not.
template <class Impl>
struct OnTheWay {
  OnTheWay(Impl& impl, Transfer& transfer) : impl_{impl}, transfer_{transfer} {
    curl_multi_add_handle(impl_.multi, transfer_.easy);
  }
  OnTheWay(const OnTheWay&) = delete;
  OnTheWay& operator=(const OnTheWay&) = delete;
  ~OnTheWay() {
    curl_multi_remove_handle(impl_.multi, transfer_.easy);
    curl_slist_free_all(transfer_.headers);
    impl_.give_back(transfer_.easy);
  }
  Impl& impl_;
  Transfer& transfer_;
};

void set_common(CURL* easy, Transfer& transfer, const std::string& url) {
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer.reason.data());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // BMCs are never behind the environment's proxy
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  // A resumed session shows no certificate, so there would be nothing to hold the pin against.
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
}

/// The pin is the authority: no bundle of public ones is loaded, and names in the certificate,
/// which BMCs make up, say nothing.
void set_pin(CURL* easy, PinCheck& check) {
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_ssl_context);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &check);
}

Error changed_certificate(const Peer& peer, const PinCheck& check) {
  return Error{Code::kUntrusted, "the certificate is not the one that was pinned: pinned " +
                                     check.expected + ", presented " + check.presented +
                                     "; if this was meant, run: cupel bmc " + peer.node +
                                     " accept-certificate"};
}

}  // namespace

Result<void> Transport::Impl::trust(const Peer& peer, Host& host, Transfer& transfer) {
  using Kind = inventory::Trust::Kind;
  if (peer.trust.kind == Kind::ca) {
    curl_easy_setopt(transfer.easy, CURLOPT_CAINFO, peer.trust.what.c_str());
    curl_easy_setopt(transfer.easy, CURLOPT_CAPATH, nullptr);
    curl_easy_setopt(transfer.easy, CURLOPT_SSL_VERIFYHOST, 2L);
    return ok();
  }
  if (peer.trust.kind == Kind::pinned) {
    constexpr std::string_view kPrefix = "SHA256:";
    if (!peer.trust.what.starts_with(kPrefix))
      return Error{Code::kInvalid, "a pin looks like SHA256:<64 digits>, not " + peer.trust.what};
    host.check.expected = std::string{kPrefix} + lower_case(peer.trust.what.substr(kPrefix.size()));
  } else {
    if (peer.known == nullptr) return Error{Code::kInvalid, "nowhere to keep the certificate"};
    if (const auto pin = peer.known->pinned("bmc:" + peer.node)) host.check.expected = *pin;
  }
  set_pin(transfer.easy, host.check);
  return ok();
}

void Transport::Impl::prepare(Transfer& transfer, const Request& request, const std::string& url,
                              bool fresh, Deadline deadline) {
  CURL* easy = transfer.easy;
  set_common(easy, transfer, url);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &Impl::open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &Impl::close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  transfer.limit = limits.response_bytes;
  const auto left = std::max<std::chrono::milliseconds>(deadline.left() + request.grace, 1ms);
  curl_easy_setopt(
      easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min<std::chrono::milliseconds>(left, kConnectPatience).count()));
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
  // A compressed answer has a weak ETag, which If-Match may not name (RFC 9110, 8.8.3.3).
  for (const char* line :
       {"Accept: application/json", "Accept-Encoding: identity", "OData-Version: 4.0", "Expect:"})
    transfer.headers = curl_slist_append(transfer.headers, line);
  for (const auto& line : request.headers)
    transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  if (request.method == Method::post || request.method == Method::patch) {
    transfer.headers = curl_slist_append(transfer.headers, "Content-Type: application/json");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
  }
  if (request.method == Method::patch) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "PATCH");
  if (request.method == Method::remove) curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
  if (request.basic) {
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_USERNAME, request.basic->user.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, request.basic->password.c_str());
  }
}

/// Ends with transfer.done, or with `outcome` saying why not: timed out, or aborted by our caller.
Task<void> Transport::Impl::wait_until_done(Transfer& transfer, Deadline deadline,
                                            std::chrono::milliseconds grace) {
  transfer.wake.expires_at(deadline.when());
  while (!transfer.done) {
    const auto [stopped] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    if (transfer.done) co_return;
    transfer.outcome = stopped ? CURLE_ABORTED_BY_CALLBACK : CURLE_OPERATION_TIMEDOUT;
    if (!stopped || grace == 0ms) co_return;
    transfer.wake.expires_after(std::exchange(grace, 0ms));
  }
}

Result<Response> Transport::Impl::concluded(const Peer& peer, Host& host, Transfer& transfer) {
  const bool pinning = peer.trust.kind == inventory::Trust::Kind::first_use;
  curl_off_t handshake = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_APPCONNECT_TIME_T, &handshake);
  const bool unknown = pinning && !peer.known->pinned("bmc:" + peer.node);
  if (unknown && handshake > 0 && !host.check.presented.empty())
    peer.known->pin("bmc:" + peer.node, host.check.presented);
  if (unknown && handshake == 0 && transfer.outcome != CURLE_OK) host.check.expected.clear();

  if (transfer.outcome == CURLE_OK) {
    long status = 0;
    curl_off_t patience = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &patience);
    transfer.response.status = static_cast<int>(status);
    transfer.response.retry_after = std::clamp<std::chrono::milliseconds>(
        std::chrono::seconds{patience}, 0ms, kLongestRetryAfter);
    return std::move(transfer.response);
  }
  if (transfer.outcome == CURLE_ABORTED_BY_CALLBACK)
    return Error{Code::kCancelled, "stopped before the answer came"};
  if (transfer.too_large)
    return Error{Code::kMalformed,
                 "an answer of more than " + std::to_string(transfer.limit) + " bytes"};
  const bool by_pin = peer.trust.kind != inventory::Trust::Kind::ca;
  if (by_pin && handshake == 0 && host.check.refused) return changed_certificate(peer, host.check);
  // A buffer that curl wrote into: what counts ends at the first NUL.
  const auto told = transfer.reason.substr(0, transfer.reason.find('\0'));
  const std::string why = told.empty() ? curl_easy_strerror(transfer.outcome) : told;
  return Error{code_of(transfer.outcome), printable(why)};
}

Task<Result<Response>> Transport::Impl::once(const Peer& peer, Host& host, const Request& request,
                                             const std::string& path, bool fresh, bool& was_kept,
                                             Deadline deadline) {
  const auto self = shared_from_this();  // the transport may go before its requests do
  Transfer transfer{executor};
  transfer.easy = take_easy();
  const std::string url = "https://" + to_string(peer.endpoint) + path;
  if (auto trusted = trust(peer, host, transfer); !trusted) {
    give_back(transfer.easy);
    co_return std::move(trusted).assume_error();
  }
  prepare(transfer, request, url, fresh, deadline);
  const OnTheWay<Impl> guard{*this, transfer};
  co_await wait_until_done(transfer, deadline, request.grace);
  long connects = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_NUM_CONNECTS, &connects);
  was_kept = connects == 0 && transfer.done && connection_broke(transfer.outcome);
  co_return concluded(peer, host, transfer);
}

/// One request with its redirects, and its one repetition where a kept connection was dead.
Task<Result<Response>> Transport::Impl::exchange(const Peer& peer, Host& host,
                                                 const Request& request, std::string path,
                                                 Deadline deadline) {
  // curl repeats what a dead kept connection swallowed, POST too: an action must never run twice.
  bool fresh = request.method == Method::post || request.method == Method::patch;
  bool may_repeat = request.method == Method::get;
  for (int redirects = 0;;) {
    CO_TRY(const std::string target, url_path(path));
    bool was_dead = false;
    auto answer = co_await once(peer, host, request, target, fresh, was_dead, deadline);
    if (!answer && was_dead && may_repeat) {
      may_repeat = false;
      fresh = true;
      continue;
    }
    if (!answer || request.method != Method::get || !is_redirect(answer.assume_value().status))
      co_return answer;
    const auto next = path_on(peer.endpoint, answer.assume_value().location);
    if (!next) co_return Error{Code::kMalformed, "a redirect that leads off the BMC"};
    if (++redirects > limits.redirects) co_return Error{Code::kMalformed, "too many redirects"};
    path = *next;
  }
}

Transport::Transport(asio::any_io_executor executor, Limits limits) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  assert(ready == CURLE_OK);
  impl_ = std::make_shared<Impl>(std::move(executor), limits);
}

Transport::~Transport() = default;

Task<Result<Response>> Transport::send(Peer peer, Request request, Deadline deadline) {
  const auto impl = impl_;
  const std::string attempt =
      peer.node + ": " + std::string{to_string(request.method)} + " " + printable(request.path);
  Host& host = impl->host(peer.endpoint);
  if (host.node.empty()) host.node = peer.node;
  // Connections are kept by address: another node's pin would not be asked on a kept one.
  if (host.node != peer.node)
    co_return Error{Code::kInvalid, attempt + ": " + to_string(peer.endpoint) + " is the BMC of " +
                                        host.node + " already"};
  auto pass = co_await host.courtesy.at_once.enter(deadline);
  if (!pass) co_return std::move(pass).assume_error().within(attempt);
  auto answer = co_await impl->exchange(peer, host, request, request.path, deadline);
  if (!answer) co_return std::move(answer).assume_error().within(attempt);
  co_return answer;
}

Task<Result<std::string>> Transport::presented_certificate(inventory::Endpoint endpoint,
                                                           Deadline deadline) {
  const auto impl = impl_;
  Transfer transfer{impl->executor};
  PinCheck check{.only_looking = true};
  transfer.easy = impl->take_easy();
  const std::string url = "https://" + to_string(endpoint) + "/";
  impl->prepare(transfer, Request{}, url, true, deadline);
  set_pin(transfer.easy, check);
  curl_easy_setopt(transfer.easy, CURLOPT_CONNECT_ONLY, 1L);
  const OnTheWay<Impl> guard{*impl, transfer};
  co_await Impl::wait_until_done(transfer, deadline, 0ms);
  if (!check.presented.empty()) co_return check.presented;
  if (transfer.outcome == CURLE_ABORTED_BY_CALLBACK)
    co_return Error{Code::kCancelled, "stopped before the certificate came"};
  co_return Error{code_of(transfer.outcome),
                  to_string(endpoint) + ": " + curl_easy_strerror(transfer.outcome)};
}

Courtesy& Transport::courtesy(const inventory::Endpoint& endpoint) {
  return impl_->host(endpoint).courtesy;
}

}  // namespace cupel::bmc::redfish
