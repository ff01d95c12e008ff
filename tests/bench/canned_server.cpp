#include "tests/bench/canned_server.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/support/certificate.h"

namespace cupel::bench {

struct CannedServer::Shared {
  std::atomic<bool> close{false};
  std::atomic<long> requests{0}, handshakes{0}, resumed{0};
};

namespace {

using Clock = std::chrono::steady_clock;

std::string response(int status, std::string_view body, std::string_view headers = {}) {
  std::string text = "HTTP/1.1 " + std::to_string(status) +
                     " X\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\nContent-Type: application/json\r\n";
  text += headers;
  text += "\r\n";
  text += body;
  return text;
}

struct Connection {
  int fd = -1;
  SSL* ssl = nullptr;
  bool ready = false;  // its handshake is done
  bool waiting = false;
  std::string in{}, out{};
  std::uint64_t id = 0;
};

class Serving {
 public:
  Serving(Canned canned, int listener, SSL_CTX* tls, std::atomic<bool>& close,
          std::atomic<long>& requests, std::atomic<long>& handshakes, std::atomic<long>& resumed)
      : latency_{canned.latency},
        listener_{listener},
        tls_{tls},
        close_{close},
        requests_{requests},
        handshakes_{handshakes},
        resumed_{resumed} {
    for (auto& [path, body] : canned.bodies) answers_[path] = response(200, body);
    none_ = response(404, R"({"error": {"code": "Base.1.8.ResourceMissingAtURI"}})");
    gone_ = response(204, "");
    created_ = response(201, R"({"@odata.id": "/redfish/v1/SessionService/Sessions/1"})",
                        "X-Auth-Token: token\r\n"
                        "Location: /redfish/v1/SessionService/Sessions/1\r\n");
  }

  [[noreturn]] void run() {
    watch(listener_, EPOLL_CTL_ADD);
    for (;;) {
      epoll_event events[256];
      const auto patience = until_due();
      const int count = epoll_pwait2(epoll_, events, 256, patience ? &*patience : nullptr, nullptr);
      for (int i = 0; i < count; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          accept_all();
        } else {
          act(fd);
        }
      }
      answer_due();
    }
  }

 private:
  struct Due {
    Clock::time_point when;
    int fd;
    std::uint64_t id;
    const std::string* answer;
  };

  std::optional<timespec> until_due() const {
    if (due_.empty()) return std::nullopt;
    const auto left =
        std::max<Clock::duration>(due_.front().when - Clock::now(), Clock::duration{0});
    const auto whole = std::chrono::floor<std::chrono::seconds>(left);
    return timespec{whole.count(), static_cast<long>((left - whole).count())};
  }

  void watch(int fd, int how) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(epoll_, how, fd, &event);
  }

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (connections_.size() <= static_cast<std::size_t>(fd))
        connections_.resize(static_cast<std::size_t>(fd) + 1);
      auto& connection = connections_[static_cast<std::size_t>(fd)];
      connection = std::make_unique<Connection>();
      connection->fd = fd;
      connection->id = ++last_id_;
      connection->ssl = SSL_new(tls_);
      SSL_set_fd(connection->ssl, fd);
      SSL_set_accept_state(connection->ssl);
      watch(fd, EPOLL_CTL_ADD);
    }
  }

  void drop(Connection& connection) {
    SSL_free(connection.ssl);
    ::close(connection.fd);
    connections_[static_cast<std::size_t>(connection.fd)].reset();
  }

  void act(int fd) {
    auto& slot = connections_[static_cast<std::size_t>(fd)];
    if (!slot) return;
    Connection& connection = *slot;
    if (!connection.ready) {
      const int done = SSL_do_handshake(connection.ssl);
      if (done != 1) {
        if (SSL_get_error(connection.ssl, done) != SSL_ERROR_WANT_READ) drop(connection);
        return;
      }
      connection.ready = true;
      ++(SSL_session_reused(connection.ssl) == 1 ? resumed_ : handshakes_);
    }
    char buffer[16384];
    for (;;) {
      const int got = SSL_read(connection.ssl, buffer, sizeof buffer);
      if (got > 0) {
        connection.in.append(buffer, static_cast<std::size_t>(got));
        continue;
      }
      if (SSL_get_error(connection.ssl, got) != SSL_ERROR_WANT_READ) return drop(connection);
      break;
    }
    take_request(connection);
  }

  void take_request(Connection& connection) {
    const auto end = connection.in.find("\r\n\r\n");
    if (end == std::string::npos || connection.waiting) return;
    const std::string_view head{connection.in.data(), end};
    std::size_t body = 0;
    if (const auto at = head.find("Content-Length: "); at != head.npos)
      body = static_cast<std::size_t>(std::atol(head.data() + at + 16));
    if (connection.in.size() < end + 4 + body) return;
    ++requests_;
    const auto* answer = answer_to(head);
    connection.in.erase(0, end + 4 + body);
    connection.waiting = true;
    if (latency_.count() == 0) return send(connection, *answer);
    due_.push_back({Clock::now() + latency_, connection.fd, connection.id, answer});
  }

  const std::string* answer_to(std::string_view head) const {
    const auto method = head.substr(0, head.find(' '));
    if (method == "POST") return &created_;
    if (method == "DELETE") return &gone_;
    auto path = head.substr(method.size() + 1);
    path = path.substr(0, path.find_first_of(" ?#"));
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const auto found = answers_.find(std::string{path});
    return found == answers_.end() ? &none_ : &found->second;
  }

  void send(Connection& connection, const std::string& prepared) {
    connection.waiting = false;
    const std::string answer = close_ ? closing(prepared) : std::string{};
    write(connection, close_ ? answer : prepared);
  }

  static std::string closing(std::string answer) {
    return answer.insert(answer.find("\r\n") + 2, "Connection: close\r\n");
  }

  void write(Connection& connection, const std::string& answer) {
    // Blocking would stop everybody: a socket's buffer takes any of these answers but the largest.
    std::size_t sent = 0;
    while (sent < answer.size()) {
      const int wrote =
          SSL_write(connection.ssl, answer.data() + sent,
                    static_cast<int>(std::min<std::size_t>(answer.size() - sent, 16384)));
      if (wrote > 0) {
        sent += static_cast<std::size_t>(wrote);
        continue;
      }
      if (SSL_get_error(connection.ssl, wrote) != SSL_ERROR_WANT_WRITE) return drop(connection);
      pollfd room{.fd = connection.fd, .events = POLLOUT, .revents = 0};
      ::poll(&room, 1, 1000);
    }
    if (!close_) return;
    SSL_shutdown(connection.ssl);
    drop(connection);
  }

  void answer_due() {
    const auto now = Clock::now();
    while (!due_.empty() && due_.front().when <= now) {
      const Due due = due_.front();
      due_.pop_front();
      auto& slot = connections_[static_cast<std::size_t>(due.fd)];
      if (slot && slot->id == due.id) send(*slot, *due.answer);
    }
  }

  std::chrono::microseconds latency_;
  int listener_;
  SSL_CTX* tls_;
  std::atomic<bool>& close_;
  std::atomic<long>&requests_, &handshakes_, &resumed_;
  std::unordered_map<std::string, std::string> answers_;
  std::string none_, gone_, created_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<Due> due_;
  std::uint64_t last_id_ = 0;
};

SSL_CTX* context() {
  const auto made = test::make_certificate();
  SSL_CTX* tls = SSL_CTX_new(TLS_server_method());
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> certificate{
      BIO_new_mem_buf(made.certificate_pem.data(), static_cast<int>(made.certificate_pem.size())),
      &BIO_free_all};
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> key{
      BIO_new_mem_buf(made.key_pem.data(), static_cast<int>(made.key_pem.size())), &BIO_free_all};
  X509* x509 = PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr);
  EVP_PKEY* pkey = PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(tls, x509);
  SSL_CTX_use_PrivateKey(tls, pkey);
  X509_free(x509);
  EVP_PKEY_free(pkey);
  SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
  return tls;
}

}  // namespace

CannedServer::CannedServer(Canned canned) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared_ = new (memory) Shared;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = INADDR_ANY;
  socklen_t size = sizeof any;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 ||
      ::listen(listener, 4096) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&any), &size) != 0)
    std::abort();
  port_ = ntohs(any.sin_port);
  child_ = ::fork();
  if (child_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_IGN);
    Serving{std::move(canned),   listener,        context(), shared_->close, shared_->requests,
            shared_->handshakes, shared_->resumed}
        .run();
  }
  ::close(listener);
}

CannedServer::~CannedServer() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  ::munmap(shared_, sizeof(Shared));
}

std::string CannedServer::address(int index) {
  return "127.0." + std::to_string(1 + index / 250) + "." + std::to_string(1 + index % 250);
}

double CannedServer::cpu_seconds() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(child_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void CannedServer::close_after_answers(bool close) { shared_->close = close; }
long CannedServer::requests() const { return shared_->requests; }
long CannedServer::handshakes() const { return shared_->handshakes; }
long CannedServer::resumed() const { return shared_->resumed; }

}  // namespace cupel::bench
