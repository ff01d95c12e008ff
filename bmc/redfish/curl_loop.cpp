#include "bmc/redfish/curl_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* argument) {
  auto& transfer = *static_cast<Transfer*>(argument);
  auto& body = transfer.response.body;
  if (transfer.streaming) {
    transfer.paused = body.size() + count > kStreamBuffer;
    if (transfer.paused) return CURL_WRITEFUNC_PAUSE;
    body.append(bytes, count);
    transfer.wake.cancel();
    return count;
  }
  if (body.size() + count > transfer.limit) {
    transfer.too_large = true;
    return 0;  // curl ends the transfer with CURLE_WRITE_ERROR
  }
  transfer.no_room = !transfer.held.grow(count);
  if (transfer.no_room) return 0;
  body.append(bytes, count);
  return count;
}

/// "HTTP/1.1 200 OK"
int status_of(std::string_view line) {
  const auto words_of_it = words(line);
  return words_of_it.size() < 2 ? 0 : number<int>(words_of_it[1]).value_or(0);
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* argument) {
  auto& transfer = *static_cast<Transfer*>(argument);
  auto& response = transfer.response;
  const std::string_view line{bytes, count};
  if (line.starts_with("HTTP/")) {
    response = Response{};  // an interim answer (100) came before
    response.status = status_of(line);
  }
  if (trimmed(line).empty() && response.status >= 200) {
    transfer.head_came = true;
    if (transfer.streaming) transfer.wake.cancel();
    // curl looks at this again when the answer is complete.
    if (transfer.keeps && !transfer.keeps())
      curl_easy_setopt(transfer.easy, CURLOPT_FORBID_REUSE, 1L);
  }
  const auto colon = line.find(':');
  if (colon == line.npos) return count;
  const auto name = lower_case(line.substr(0, colon));
  const std::string value{trimmed(line.substr(colon + 1))};
  if (name == "content-type") response.content_type = value;
  if (name == "etag") response.etag = value;
  if (name == "location") response.location = value;
  if (name == "x-auth-token") response.token = value;
  // One of several in a list, in one line or in some.
  if (name == "www-authenticate" && lower_case(value).find("basic") != std::string::npos)
    response.asks_for_basic = true;
  return count;
}

CURLcode on_ssl_context(CURL*, void* ssl_context, void* argument) {
  const auto& transfer = *static_cast<Transfer*>(argument);
  hold_certificate_against(ssl_context, *transfer.check, transfer.may_resume);
  return CURLE_OK;
}

}  // namespace

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
    case CURLE_SSL_CERTPROBLEM:
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

Error failure_of(const Transfer& transfer) {
  // A buffer that curl wrote into: what counts ends at the first NUL.
  const auto reason = transfer.reason.substr(0, transfer.reason.find('\0'));
  const auto why = printable(reason.empty() ? curl_easy_strerror(transfer.outcome) : reason);
  // The server's alert 70 (RFC 5246, 7.2.2), or a version that we did not offer.
  const bool too_old =
      transfer.outcome == CURLE_SSL_CONNECT_ERROR &&
      (why.contains("alert protocol version") || why.contains("unsupported protocol"));
  if (!too_old) return {code_of(transfer.outcome), why};
  return {Code::kUnsupported,
          "the BMC offers TLS 1.1 or older only; TLS 1.2 is needed (RFC 8996). Update its "
          "firmware, or write bmc: {protocol: ipmi} into the inventory (" +
              why + ")"};
}

// curl says which sockets it waits on and when its next timer is due; the reactor says when that
// came true.
CurlLoop::CurlLoop(const asio::any_io_executor& executor, int connections, int to_one_host)
    : reactor_{std::make_shared<Reactor>(
          executor, [this](int fd, int event) { act(fd, event); },
          [this] { act(CURL_SOCKET_TIMEOUT, 0); })},
      multi_{curl_multi_init()} {
  static_assert(Reactor::kRead == CURL_CSELECT_IN && Reactor::kWrite == CURL_CSELECT_OUT);
  static_assert(Reactor::kRead == CURL_POLL_IN && Reactor::kWrite == CURL_POLL_OUT);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &CurlLoop::on_socket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &CurlLoop::on_timer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, long{connections});
  curl_multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, long{connections});
  curl_multi_setopt(multi_, CURLMOPT_MAX_HOST_CONNECTIONS, long{to_one_host});
}

CurlLoop::~CurlLoop() {
  for (CURL* easy : spare_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);  // closes the kept connections, and says so to close_socket
  reactor_->stop();
}

// A kept connection stays with the reactor while nobody uses it, though curl says "remove" after
// each answer. That is safe for sockets whose closing we see; others (the resolver's) go at once.
curl_socket_t CurlLoop::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  const int fd = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd >= 0) static_cast<CurlLoop*>(self)->ours_.insert(fd);
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

int CurlLoop::close_socket(void* self, curl_socket_t fd) {
  auto& loop = *static_cast<CurlLoop*>(self);
  loop.ours_.erase(fd);
  loop.reactor_->forget(fd);
  return ::close(fd);
}

int CurlLoop::on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
  auto& loop = *static_cast<CurlLoop*>(self);
  const bool remove = what == CURL_POLL_REMOVE;
  if (remove && !loop.ours_.contains(fd)) loop.reactor_->forget(fd);
  if (remove && !loop.ours_.contains(fd)) return 0;
  return loop.reactor_->watch(fd, remove ? 0 : what) ? 0 : -1;
}

int CurlLoop::on_timer(CURLM*, long milliseconds, void* self) {
  using Patience = std::optional<std::chrono::milliseconds>;
  const auto patience = milliseconds < 0 ? Patience{} : std::chrono::milliseconds{milliseconds};
  static_cast<CurlLoop*>(self)->reactor_->set_timer(patience);
  return 0;
}

void CurlLoop::act(curl_socket_t fd, int events) {
  int running = 0;
  curl_multi_socket_action(multi_, fd, events, &running);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    Transfer* transfer = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    transfer->outcome = message->data.result;
    transfer->done = true;
    transfer->wake.cancel();
  }
}

void CurlLoop::equip(Transfer& transfer, const std::string& url) {
  if (spare_.empty()) {
    transfer.easy = curl_easy_init();
  } else {
    transfer.easy = spare_.back();
    spare_.pop_back();
  }
  CURL* easy = transfer.easy;
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
  // curl would offer a session to whatever is at that address. Ours are kept with the certificate
  // that they began with: see tls.h.
  curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &CurlLoop::open_socket);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, this);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &CurlLoop::close_socket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
}

void CurlLoop::start(Transfer& transfer) { curl_multi_add_handle(multi_, transfer.easy); }

void CurlLoop::end(Transfer& transfer) {
  constexpr std::size_t kMostSpare = 64;
  curl_multi_remove_handle(multi_, transfer.easy);
  curl_slist_free_all(std::exchange(transfer.headers, nullptr));
  CURL* easy = std::exchange(transfer.easy, nullptr);
  curl_easy_reset(easy);
  if (spare_.size() < kMostSpare) {
    spare_.push_back(easy);
  } else {
    curl_easy_cleanup(easy);
  }
}

void CurlLoop::resume(Transfer& transfer) {
  transfer.paused = false;
  curl_easy_pause(transfer.easy, CURLPAUSE_CONT);
}

void set_pin(Transfer& transfer, PinCheck& check, bool may_resume, int generation) {
  transfer.check = &check;
  transfer.may_resume = may_resume;
  CURL* easy = transfer.easy;
  curl_easy_setopt(easy, CURLOPT_CAINFO, nullptr);
  // No such folder: nothing is read from it. But curl uses a kept connection only for requests that
  // name the same one, and so one that was made under another pin no more.
  const std::string name = "/nonexistent/cupel-pin-" + std::to_string(generation);
  curl_easy_setopt(easy, CURLOPT_CAPATH, generation == 0 ? nullptr : name.c_str());
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, &on_ssl_context);
  curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, &transfer);
}

}  // namespace cupel::bmc::redfish
