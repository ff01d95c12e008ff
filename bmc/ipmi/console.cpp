#include "bmc/ipmi/console.h"

#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/sol.h"

namespace cupel::bmc::ipmi {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t kSol = 0x01, kInstance = 0x01;
constexpr std::uint8_t kEncryptedAndAuthenticated = 0xc0;
constexpr std::uint8_t kAlreadyActive = 0x80, kDisabled = 0x81;
constexpr auto kAlive = 20s;        // a BMC ends a session after 60 s without a packet
constexpr int kMostUnanswered = 3;  // keep-alives in a row
constexpr auto kPause = 200ms;      // while the BMC takes no characters
constexpr std::size_t kLeast = 16, kUsual = 128;

class SolConsole final : public Console, public Listener {
 public:
  SolConsole(std::unique_ptr<Client> client, std::size_t largest,
             const asio::any_io_executor& executor)
      : client_{std::move(client)},
        stream_{largest},
        reader_{executor},
        writer_{executor},
        alive_{executor} {
    hearing_.emplace(client_->transport(), client_->address(), *this);
    keep_alive();
  }

  Task<Result<std::string>> read(Deadline deadline) override {
    for (;;) {
      if (stream_.has_text()) co_return stream_.take_text();
      CO_TRY(still_there());
      reader_.expires_at(deadline.when());
      const auto [woken] = co_await reader_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (stream_.has_text()) continue;
      const bool stopped = co_await cancelled();
      if (stopped) co_return Error{Code::kCancelled, client_->node() + ": stopped"};
      if (!woken) co_return Error{Code::kTimeout, client_->node() + ": the console says nothing"};
    }
  }

  Task<Result<void>> write(std::string bytes, Deadline deadline) override {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      CO_TRY(still_there());
      send(stream_.send(rest));
      CO_TRY(co_await wait_until_delivered(deadline));
      rest.remove_prefix(*stream_.delivered());
      if (!stream_.paused()) continue;
      if (deadline.passed())
        co_return Error{Code::kTimeout, client_->node() + ": the console takes no characters"};
      CO_TRY(co_await pause_for(kPause));
    }
    co_return ok();
  }

  Task<Result<void>> send_break(Deadline deadline) override {
    CO_TRY(still_there());
    send(stream_.send_break());
    co_return co_await wait_until_delivered(deadline);
  }

  Task<void> close() override {
    if (!hearing_) co_return;
    alive_.cancel();
    hearing_.reset();
    if (!lost_) lost_ = Error{Code::kUnreachable, client_->node() + ": the console was closed"};
    wake();
    co_await client_->tell(kDeactivatePayload, {kSol, kInstance, 0, 0, 0, 0});
    co_await client_->log_out();
  }

  bool hear(View datagram) override {
    auto* session = client_->session();
    if (session == nullptr) return false;
    const auto opened = session->open(datagram);
    if (!opened) return false;
    unanswered_ = 0;
    const auto& reported = *opened;
    if (reported.type != PayloadType::sol) return true;
    const auto answer = stream_.hear(reported.payload);
    if (!answer.empty()) send(answer);
    if (stream_.ended() && !lost_)
      lost_ = Error{Code::kUnreachable,
                    client_->node() + ": the BMC ended the console (taken over, or deactivated)"};
    wake();
    return true;
  }

  void lost(const Error& error) override {
    if (!lost_) lost_ = Error{error}.within(client_->node() + ": console");
    wake();
  }

 private:
  Result<void> still_there() const {
    if (lost_) return *lost_;
    return ok();
  }

  void wake() {
    reader_.cancel();
    writer_.cancel();
  }

  void send(View payload) {
    auto* session = client_->session();
    if (session == nullptr) return;
    const auto sent =
        client_->transport().send(client_->address(), session->seal(PayloadType::sol, payload));
    if (!sent) lost(sent.error());
  }

  /// Sends the packet again and again, as what was lost would be on the way to the BMC or back.
  Task<Result<void>> wait_until_delivered(Deadline deadline) {
    Patience patience;
    auto due = Deadline::Clock::now() + patience.next();
    while (!stream_.delivered()) {
      writer_.expires_at(std::min(due, deadline.when()));
      const auto [woken] = co_await writer_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (stream_.delivered()) break;
      CO_TRY(still_there());
      const bool stopped = co_await cancelled();
      if (stopped) co_return Error{Code::kCancelled, client_->node() + ": stopped"};
      if (woken) continue;  // by what was for the reader
      if (deadline.passed() || patience.exhausted())
        co_return Error{Code::kTimeout, client_->node() + ": the console takes no characters"};
      due = Deadline::Clock::now() + patience.next();
      send(stream_.on_its_way());
    }
    co_return ok();
  }

  void keep_alive() {
    alive_.expires_after(kAlive);
    // The handler may come when this object has gone.
    alive_.async_wait([this, life = std::weak_ptr{life_}](boost::system::error_code stopped) {
      if (stopped || life.expired() || lost_) return;
      if (++unanswered_ > kMostUnanswered) {
        lost({Code::kUnreachable, "the BMC answers no more"});
        return;
      }
      auto* session = client_->session();
      if (session == nullptr) return;
      const auto request = request_message(kGetDeviceId, ++sequence_ & 63, {});
      (void)client_->transport().send(client_->address(),
                                      session->seal(PayloadType::ipmi, request));
      keep_alive();
    });
  }

  std::unique_ptr<Client> client_;
  SolStream stream_;
  asio::steady_timer reader_, writer_, alive_;
  std::optional<Transport::Hearing> hearing_{};
  std::optional<Error> lost_{};
  int unanswered_ = 0;
  std::uint8_t sequence_ = 0;
  std::shared_ptr<int> life_ = std::make_shared<int>();
};

Error refusal_of(const Client& client, std::uint8_t completion) {
  const auto number = " (" + hex(completion, 2) + ")";
  const auto name = client.node() + ": Activate Payload: ";
  switch (completion) {
    case kAlreadyActive:
      return {Code::kConflict, name + "payload already active on another session" + number};
    case kDisabled:
      return {Code::kUnsupported, name + "Serial-over-LAN is disabled on this BMC" + number};
    case 0x82:
      return {Code::kBusy, name + "payload activation limit reached" + number};
    case 0x83:
      return {Code::kUnsupported, name + "cannot activate payload with encryption" + number};
    default:
      return error_of(kActivatePayload, completion).within(client.node());
  }
}

Task<Result<Reply>> activate(Client& client, Deadline deadline) {
  const Bytes how{kSol, kInstance, kEncryptedAndAuthenticated, 0, 0, 0};
  CO_TRY(Reply reply, co_await client.exchange(kActivatePayload, how, deadline));
  if (reply.completion != kAlreadyActive) co_return reply;
  // Often our own of before a crash; and whoever asks for a console means to have it.
  Bytes which{kSol, kInstance, 0, 0, 0, 0};
  CO_TRY(co_await client.exchange(kDeactivatePayload, std::move(which), deadline));
  co_return co_await client.exchange(kActivatePayload, how, deadline);
}

}  // namespace

Task<Result<std::unique_ptr<Console>>> open_console(std::unique_ptr<Client> client,
                                                    Deadline deadline) {
  auto reply = co_await activate(*client, deadline);
  if (!reply || reply->completion != 0) {
    co_await client->log_out();
    if (!reply) co_return std::move(reply).error();
    co_return refusal_of(*client, reply->completion);
  }
  Reader reader{reply->data};
  reader.u32();
  const std::size_t reported = reader.u16();  // that we may send, with the header
  const auto largest = reported >= kLeast && reported <= 1024 ? reported - kSolHeader : kUsual;
  const auto executor = co_await asio::this_coro::executor;
  std::unique_ptr<Console> console =
      std::make_unique<SolConsole>(std::move(client), largest, executor);
  co_return console;
}

}  // namespace cupel::bmc::ipmi
