#include "tests/burn/fake/far_world.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <set>
#include <string_view>

namespace cupel::burn::fake {
namespace {

struct Frame {
  std::int32_t from = 0, to = 0;  // to: a rank, or a word
  std::uint64_t size = 0;
};
constexpr std::int32_t kHello = -1, kGo = -2, kBroken = -3, kBye = -4, kAllLeft = -5;

bool read_all(int socket, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const auto got = ::recv(socket, at, size, 0);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int socket, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const auto sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool send_frame(int socket, Frame frame, const void* data = nullptr) {
  return write_all(socket, &frame, sizeof frame) &&
         (frame.size == 0 || write_all(socket, data, frame.size));
}

/// Carries messages from process to process. Lives as long as its program.
class Hub {
 public:
  explicit Hub(int listener, std::uint64_t magic) : listener_{listener}, magic_{magic} {}

  void start(int ranks) {
    const std::scoped_lock lock{mutex_};
    if (ranks_ != 0) return;
    ranks_ = ranks;
    std::thread{[this] { accept_all(); }}.detach();
  }

 private:
  void accept_all() {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      std::thread{[this, socket] { serve(socket); }}.detach();
    }
  }

  void serve(int socket) {
    std::uint64_t magic = 0;
    if (!read_all(socket, &magic, sizeof magic) || magic != magic_) {
      ::close(socket);  // whoever looks whether it is reachable
      return;
    }
    bool said_bye = false;
    Frame frame;
    std::vector<char> data;
    while (read_all(socket, &frame, sizeof frame)) {
      data.resize(frame.size);
      if (frame.size > 0 && !read_all(socket, data.data(), data.size())) break;
      take(socket, frame, data, said_bye);
    }
    const std::scoped_lock lock{mutex_};
    if (!said_bye) tell_all(kBroken, socket);
  }

  void take(int socket, const Frame& frame, const std::vector<char>& data, bool& said_bye) {
    const std::scoped_lock lock{mutex_};
    if (frame.to == kHello) {
      sockets_[frame.from] = socket;
      if (static_cast<int>(sockets_.size()) == ranks_) tell_all(kGo, -1);
    } else if (frame.to == kBye) {
      said_bye = true;
      left_.insert(socket);
      if (left_.size() == all().size()) tell_all(kAllLeft, -1);
    } else if (const auto found = sockets_.find(frame.to); found != sockets_.end()) {
      send_frame(found->second, frame, data.data());
    }
  }

  std::set<int> all() const {
    std::set<int> all;
    for (const auto& [rank, socket] : sockets_) all.insert(socket);
    return all;
  }

  void tell_all(std::int32_t word, int but) const {
    for (const int socket : all())
      if (socket != but) send_frame(socket, {.to = word});
  }

  const int listener_;
  const std::uint64_t magic_;
  std::mutex mutex_;
  int ranks_ = 0;
  std::map<int, int> sockets_;
  std::set<int> left_;
};

std::mutex hubs_mutex;
std::map<IdBytes, Hub*>& hubs() {
  static auto* const all = new std::map<IdBytes, Hub*>;  // threads may outlive main()
  return *all;
}

}  // namespace

bool make_far_id(IdBytes& id) {
  const char* requested = std::getenv("NCCL_SOCKET_IFNAME");
  if (requested != nullptr && std::string_view{requested} != "lo" &&
      std::string_view{requested} != "=lo")
    return false;
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&here), size) != 0) return false;
  if (::listen(listener, 64) != 0) return false;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&here), &size);
  const auto magic =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  id.fill(0);
  std::memcpy(id.data(), &magic, sizeof magic);
  std::memcpy(id.data() + sizeof magic, &here, sizeof here);
  const std::scoped_lock lock{hubs_mutex};
  hubs()[id] = new Hub{listener, magic};
  return true;
}

FarWorld::FarWorld(const IdBytes& id, int ranks, Deliver deliver)
    : ranks_{ranks}, deliver_{std::move(deliver)} {
  {
    const std::scoped_lock lock{hubs_mutex};
    if (const auto hub = hubs().find(id); hub != hubs().end()) {
      is_home_ = true;
      hub->second->start(ranks);
    }
  }
  sockaddr_in there{};
  std::memcpy(&there, id.data() + sizeof(std::uint64_t), sizeof there);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* address = reinterpret_cast<const sockaddr*>(&there);
  if (::connect(socket_, address, sizeof there) != 0 ||
      !write_all(socket_, id.data(), sizeof(std::uint64_t)))
    is_broken_ = true;
  reader_ = std::thread{[this] { read(); }};
}

FarWorld::~FarWorld() {
  ::shutdown(socket_, SHUT_RDWR);
  reader_.join();
  ::close(socket_);
}

void FarWorld::join(int rank) {
  const std::scoped_lock lock{sending_};
  send_frame(socket_, {.from = rank, .to = kHello});
}

void FarWorld::post(int from, int to, const void* data, std::size_t bytes) {
  const std::scoped_lock lock{sending_};
  send_frame(socket_, {from, to, bytes}, data);
}

bool FarWorld::is_joined() const {
  const std::scoped_lock lock{mutex_};
  return is_joined_;
}

bool FarWorld::is_broken() const {
  const std::scoped_lock lock{mutex_};
  return is_broken_;
}

void FarWorld::read() {
  Frame frame;
  for (;;) {
    const bool got = read_all(socket_, &frame, sizeof frame);
    if (got && frame.to >= 0) {
      std::vector<char> data(frame.size);
      if (!read_all(socket_, data.data(), data.size())) return;
      deliver_(frame.from, frame.to, std::move(data));
      continue;
    }
    const std::scoped_lock lock{mutex_};
    if (!got || frame.to == kBroken) is_broken_ = true;
    if (!got || frame.to == kAllLeft) have_all_left_ = true;
    if (frame.to == kGo) is_joined_ = true;
    changed_.notify_all();
    if (!got) return;
  }
}

void FarWorld::leave() {
  {
    const std::scoped_lock lock{sending_};
    send_frame(socket_, {.to = kBye});
  }
  std::unique_lock lock{mutex_};
  constexpr std::chrono::seconds kMost{20};
  if (is_home_) changed_.wait_for(lock, kMost, [this] { return have_all_left_; });
}

void FarWorld::abort() { ::shutdown(socket_, SHUT_RDWR); }

}  // namespace cupel::burn::fake
