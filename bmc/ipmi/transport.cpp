#include "bmc/ipmi/transport.h"

#include <boost/asio/ip/udp.hpp>
#include <cstring>

#include "bmc/ipmi/crypto.h"
#include "bmc/ipmi/socket.h"

namespace cupel::bmc::ipmi {

struct Transport::Socket {
  std::shared_ptr<UdpSocket> udp;
};

Transport::Transport(asio::any_io_executor executor, AllBmcLimits* all_bmc_limits)
    : executor_{std::move(executor)},
      all_bmc_limits_{all_bmc_limits != nullptr ? all_bmc_limits : &own_} {
  const auto random = random_block();
  std::memcpy(&last_session_, random.data(), sizeof last_session_);
}

Transport::~Transport() {
  for (const auto& socket : {v4_, v6_})
    if (socket) socket->udp->stop();
}

std::uint32_t Transport::fresh_session() {
  if (++last_session_ == 0) ++last_session_;
  return last_session_;
}

Result<std::shared_ptr<Transport::Socket>> Transport::socket_for(const Address& address) {
  const bool v6 = address.address().is_v6();
  auto& socket = v6 ? v6_ : v4_;
  if (socket) return socket;
  TRY(auto udp,
      UdpSocket::open(
          executor_, v6, [this](const Address& from, View datagram) { heard(from, datagram); },
          [this](const Address& whom, const Error& error) { lost(whom, error); }));
  socket = std::make_shared<Socket>(Socket{std::move(udp)});
  return socket;
}

Result<void> Transport::send(const Address& address, View datagram) {
  TRY(const auto socket, socket_for(address));
  return socket->udp->send(address, datagram);
}

void Transport::heard(const Address& from, View datagram) {
  const auto found = listeners_.find(from);
  if (found == listeners_.end()) return;
  for (auto* each : found->second)
    if (each->hear(datagram)) return;
}

void Transport::lost(const Address& whom, const Error& error) {
  const auto found = listeners_.find(whom);
  if (found == listeners_.end()) return;
  for (auto* each : found->second) each->lost(error);
}

Transport::Hearing::Hearing(Transport& transport, Address address, Listener& listener)
    : transport_{transport}, address_{std::move(address)}, listener_{&listener} {
  transport_.listeners_[address_].push_back(listener_);
}

Transport::Hearing::~Hearing() {
  const auto found = transport_.listeners_.find(address_);
  std::erase(found->second, listener_);
  if (found->second.empty()) transport_.listeners_.erase(found);
}

Task<Result<Address>> Transport::resolve(inventory::Endpoint endpoint, Deadline deadline) {
  boost::system::error_code no_number;
  const auto number = asio::ip::make_address(endpoint.host, no_number);
  if (!no_number) co_return Address{number, endpoint.port};
  const auto look_up = [](asio::any_io_executor executor,
                          inventory::Endpoint whom) -> Task<Result<Address>> {
    asio::ip::udp::resolver resolver{executor};
    const auto port = std::to_string(whom.port);
    constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
    const auto [failed, found] = co_await resolver.async_resolve(whom.host, port, as_values);
    const bool stopped = co_await cancelled();
    if (stopped) co_return Error{Code::kCancelled, "stopped while looking up " + whom.host};
    if (failed || found.empty())
      co_return Error{Code::kUnreachable, "no address for " + whom.host + ": " + failed.message()};
    co_return found.begin()->endpoint();
  };
  auto task = look_up(executor_, std::move(endpoint));
  co_return co_await with_deadline(deadline, std::move(task));
}

/// A conversation, heard and timed.
struct Transport::Talk final : Listener {
  Talk(Transport& its_transport, Address whom, Conversation& what)
      : transport{its_transport},
        address{std::move(whom)},
        conversation{what},
        timer{transport.executor_} {}

  bool hear(View datagram) override {
    if (over) return false;
    auto action = conversation.on_datagram(datagram);
    if (std::holds_alternative<Wait>(action)) return false;
    act(std::move(action));
    return true;
  }

  void lost(const Error& error) override {
    if (!over) end(error);
  }

  void act(Action action) {
    if (std::holds_alternative<Done>(action)) return end(ok());
    if (auto* send = std::get_if<Send>(&action)) {
      due = Deadline::Clock::now() + send->answer_within;
      auto sent = transport.send(address, send->datagram);
      if (!sent) end(std::move(sent));
    }
  }

  void end(Result<void> how) {
    over = std::move(how);
    timer.cancel();
  }

  Transport& transport;
  Address address;
  Conversation& conversation;
  asio::steady_timer timer;
  Deadline::Clock::time_point due{};
  std::optional<Result<void>> over{};
};

Task<Result<void>> Transport::perform(Address address, Conversation& conversation,
                                      Deadline deadline, Ticks grace) {
  Talk talk{*this, address, conversation};
  const Hearing hearing{*this, address, talk};
  bool stopped = co_await cancelled();
  if (stopped && grace.count() == 0) co_return Error{Code::kCancelled, "stopped"};
  auto until = stopped ? deadline.sooner(grace) : deadline;
  talk.act(conversation.start());
  while (!talk.over) {
    // It may be due later by then: whoever moves that leaves the timer alone.
    talk.timer.expires_at(std::min(talk.due, until.when()));
    const auto [woken] = co_await talk.timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (talk.over) break;
    if (woken && !stopped) {
      if (grace.count() == 0) co_return Error{Code::kCancelled, "stopped"};
      stopped = true;
      until = deadline.sooner(grace);
    }
    if (until.passed() && stopped) co_return Error{Code::kCancelled, "stopped"};
    if (until.passed()) co_return Error{Code::kTimeout, "no answer before the deadline"};
    if (Deadline::Clock::now() >= talk.due) talk.act(conversation.on_timeout());
  }
  co_return std::move(*talk.over);
}

}  // namespace cupel::bmc::ipmi
