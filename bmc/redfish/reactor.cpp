#include "bmc/redfish/reactor.h"

#include <boost/asio/post.hpp>

namespace cupel::bmc::redfish {

Reactor::Reactor(asio::any_io_executor executor, std::function<void(int, int)> on_ready,
                 std::function<void()> on_time)
    : executor_{std::move(executor)},
      on_ready_{std::move(on_ready)},
      on_time_{std::move(on_time)},
      timer_{executor_} {}

bool Reactor::watch(int fd, int interest) {
  auto& socket = sockets_[fd];
  if (!socket) {
    socket = std::make_shared<Socket>(executor_);
    boost::system::error_code failure;
    socket->descriptor.assign(fd, failure);
    if (failure) sockets_.erase(fd);
    if (failure) return false;
  }
  socket->interest = interest;
  wait(fd, socket);
  return true;
}

void Reactor::forget(int fd) {
  const auto known = sockets_.find(fd);
  if (known == sockets_.end()) return;
  let_go(*known->second);
  sockets_.erase(known);
}

void Reactor::let_go(Socket& socket) {
  socket.gone = true;
  if (socket.descriptor.is_open()) socket.descriptor.release();  // not close(): it is not ours
}

void Reactor::wait(int fd, const std::shared_ptr<Socket>& socket) {
  for (const int event : {kRead, kWrite}) {
    const bool needed = (socket->interest & event) != 0, waiting = (socket->waiting & event) != 0;
    if (needed && !waiting) wait_for(fd, socket, event);
  }
}

void Reactor::wait_for(int fd, const std::shared_ptr<Socket>& socket, int event) {
  using Descriptor = asio::posix::stream_descriptor;
  socket->waiting |= event;
  socket->descriptor.async_wait(
      event == kRead ? Descriptor::wait_read : Descriptor::wait_write,
      [weak = weak_from_this(), socket, fd, event](boost::system::error_code stopped) {
        socket->waiting &= ~event;
        const auto alive = weak.lock();
        // The number of a socket that is gone may be another one's by now.
        if (stopped || !alive || socket->gone) return;
        if ((socket->interest & event) != 0) alive->on_ready_(fd, event);
        if (!socket->gone) alive->wait(fd, socket);
      });
}

// curl sets its timer several times for each request, mostly to "now" or further away, and each
// setting of Asio's may be a system call: a third of all CPU. So "now" is posted, and a timer that
// is armed too early is let run out and armed again.
void Reactor::set_timer(std::optional<std::chrono::milliseconds> patience) {
  due_.reset();
  if (!patience) {
    timer_.cancel();
    armed_.reset();
  } else if (patience->count() == 0) {
    call_soon();
  } else {
    due_ = Deadline::Clock::now() + *patience;
    if (!armed_ || *due_ < *armed_) arm(*due_);
  }
}

void Reactor::call_soon() {
  if (std::exchange(soon_, true)) return;
  asio::post(executor_, [weak = weak_from_this()] {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->soon_ = false;
    if (alive->on_time_) alive->on_time_();
  });
}

void Reactor::arm(Time when) {
  armed_ = when;
  timer_.expires_at(when);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code stopped) {
    const auto alive = weak.lock();
    if (stopped || !alive) return;
    alive->armed_.reset();
    if (!alive->due_) return;
    if (Deadline::Clock::now() < *alive->due_) return alive->arm(*alive->due_);
    alive->due_.reset();
    alive->on_time_();
  });
}

void Reactor::stop() {
  for (auto& [fd, socket] : sockets_) let_go(*socket);
  sockets_.clear();
  set_timer(std::nullopt);
  on_ready_ = [](int, int) {};
  on_time_ = nullptr;
}

}  // namespace cupel::bmc::redfish
