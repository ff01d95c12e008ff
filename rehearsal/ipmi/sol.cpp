#include "rehearsal/ipmi/sol.h"

namespace cupel::rehearsal::ipmi {
namespace {

// 15.9: bits of the operation that a remote console asks for, and of our status.
constexpr std::uint8_t kRefused = 0x40, kBreak = 0x10, kFlushInbound = 0x02, kFlushOutbound = 0x01;
constexpr std::uint8_t kDeactivated = 0x10, kOverrun = 0x08;
constexpr std::uint8_t kNumbers = 15;

}  // namespace

Sol::Sol(asio::any_io_executor executor, SerialConsole* console)
    : enabled{console != nullptr}, console_{console}, timer_{executor} {
  if (console_ == nullptr) return;
  console_->wrote = [this](std::string_view text) { wrote(text); };
}

bool Sol::activate(std::uint32_t session) {
  if (active()) return false;
  session_ = session;
  waiting_.clear();
  flying_.clear();
  number_ = last_taken_ = last_count_ = overrun_ = 0;
  return true;
}

bool Sol::deactivate(std::uint32_t by) {
  if (!active()) return false;
  if (by != session_) send(session_, Bytes{0, 0, 0, kDeactivated});
  forget(session_);
  return true;
}

void Sol::forget(std::uint32_t session) {
  if (session != session_) return;
  session_ = 0;
  flying_.clear();
  waiting_.clear();
  timer_.cancel();
}

void Sol::stop() {
  session_ = 0;
  timer_.cancel();
  if (console_ == nullptr) return;
  console_->wrote = [](std::string_view) {};
}

/// What nobody reads is gone, as on a wire.
void Sol::wrote(std::string_view text) {
  if (!active()) return;
  const auto room = kMostWaiting - std::min(kMostWaiting, waiting_.size());
  if (text.size() > room) overrun_ = kOverrun;
  waiting_.append(text.substr(0, room));
  if (flying_.empty()) transmit_next();
}

void Sol::transmit_next() {
  if (!active() || waiting_.empty()) return;
  flying_ = waiting_.substr(0, kMostData);
  waiting_.erase(0, flying_.size());
  number_ = static_cast<std::uint8_t>(number_ % kNumbers + 1);
  tries_ = 0;
  transmit();
}

void Sol::transmit() {
  Bytes payload{number_, 0, 0, std::exchange(overrun_, std::uint8_t{0})};
  put(payload, flying_);
  send(session_, payload);
  arm();
}

/// 26.3, parameter 4: sent again, and given up in the end.
void Sol::arm() {
  timer_.expires_after(std::chrono::milliseconds{std::max<int>(retry_interval, 1) * 10});
  timer_.async_wait([this](boost::system::error_code stopped) {
    if (stopped || !active() || flying_.empty()) return;
    if (tries_++ < retries) {
      transmit();
      return;
    }
    flying_.clear();
    transmit_next();
  });
}

void Sol::take(View payload) {
  Reader reader{payload};
  const auto number = static_cast<std::uint8_t>(reader.u8() & 0x0F);
  const auto acknowledged = static_cast<std::uint8_t>(reader.u8() & 0x0F);
  const auto accepted = reader.u8();
  const auto operation = reader.u8();
  if (!reader.good() || !active()) return;
  if (acknowledged != 0) take_acknowledgement(acknowledged, accepted, (operation & kRefused) != 0);
  if ((operation & kFlushOutbound) != 0) waiting_.clear();
  if (number == 0) return;
  // 15.11: one that comes again is acknowledged again, and not taken twice.
  const bool again = number == last_taken_;
  const auto keys = reader.rest();
  if (!again) {
    last_taken_ = number;
    last_count_ = static_cast<std::uint8_t>(keys.size());
  }
  send(session_, Bytes{0, number, last_count_, 0});
  if (again) return;
  if (console_ == nullptr) return;
  if ((operation & kBreak) != 0) console_->send_break();
  const bool drop = (operation & kFlushInbound) != 0;
  if (!drop) console_->type(std::string{keys.begin(), keys.end()});
}

void Sol::take_acknowledgement(std::uint8_t number, std::size_t accepted, bool refused) {
  if (number != number_ || flying_.empty()) return;
  // 15.11: what was not accepted goes out once more, under a number of its own. Where nothing was,
  // the console is full, and the timer tries again.
  if (refused && accepted == 0) return;
  waiting_.insert(0, flying_.substr(std::min(accepted, flying_.size())));
  flying_.clear();
  timer_.cancel();
  transmit_next();
}

}  // namespace cupel::rehearsal::ipmi
