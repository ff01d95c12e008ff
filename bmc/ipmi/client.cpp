#include "bmc/ipmi/client.h"

#include "base/text.h"
#include "base/wall_clock.h"
#include "bmc/ipmi/commands.h"
#include "inventory/access.h"

namespace cupel::bmc::ipmi {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kLongestUser = 16;
constexpr std::size_t kLongestPassword = 20;
constexpr std::uint8_t kNodeBusy = 0xc0;
constexpr std::uint8_t kInsufficientPrivilege = 0xd4;
constexpr int kAskABusyNode = 3;
/// Beside the credentials that it refused is kept what we refuse it: a login that nobody can have.
constexpr std::string_view kWeakerSuites = " cipher suites below 17";
constexpr int kMostStuck = 3;  // handshakes that got lost on the way

}  // namespace

Client::Client(Transport& transport, std::string node, inventory::IpmiAccess access,
               std::string user, SecretSource password)
    : transport_{transport},
      node_{std::move(node)},
      access_{std::move(access)},
      user_{std::move(user)},
      password_{std::move(password)},
      bmc_limits_{transport.bmc_limits(node_)} {}

Client::~Client() { forget_session(); }

void Client::forget_session() {
  if (session_) --bmc_limits_.ipmi_sessions;
  session_.reset();
}

/// One conversation with the BMC: it takes one of the places that all protocols share, and how it
/// fared is noted.
Task<Result<void>> Client::perform(Conversation& conversation, Deadline deadline, Ticks grace) {
  CO_TRY(const Semaphore::Permit place, co_await bmc_limits_.at_once.enter(deadline));
  const auto began = Deadline::Clock::now();
  auto done = co_await transport_.perform(*address_, conversation, deadline, grace);
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(Deadline::Clock::now() - began);
  auto outcome = Outcome::answered;
  if (!done && done.error().code == Code::kCancelled) co_return done;
  if (!done && done.error().code == Code::kUnreachable) outcome = Outcome::unreachable;
  if (!done && done.error().code == Code::kTimeout) outcome = Outcome::timeout;
  note(bmc_limits_.seen, outcome, 0, took);
  co_return done;
}

Task<Result<Bytes>> Client::ask(const Command& command, Bytes data, Deadline deadline,
                                std::uint8_t unit) {
  for (int asked = 1;; ++asked) {
    CO_TRY(Reply reply, co_await exchange(command, data, deadline, unit));
    if (reply.completion == 0) co_return std::move(reply.data);
    if (reply.completion != kNodeBusy || asked > kAskABusyNode)
      co_return error_of(command, reply.completion).within(node_);
    const auto pause = 100ms * (1 << asked);
    CO_TRY(co_await pause_for(pause));
  }
}

Task<Result<Reply>> Client::exchange(const Command& command, Bytes data, Deadline deadline,
                                     std::uint8_t unit) {
  CO_TRY(const Semaphore::Permit alone, co_await one_at_a_time_.enter(deadline));
  CO_TRY(co_await ensure_session(deadline));
  CO_TRY(co_await ensure_privilege(command, deadline));
  auto reply = co_await send(command, data, unit, deadline);
  const bool more_is_needed =
      reply && reply->completion == kInsufficientPrivilege && level_ < granted_;
  if (!more_is_needed) co_return reply;
  CO_TRY(co_await raise_privilege(deadline));
  co_return co_await send(command, std::move(data), unit, deadline);
}

Task<Result<Reply>> Client::send(const Command& command, Bytes data, std::uint8_t unit,
                                 Deadline deadline) {
  sequence_ = (sequence_ + 1) & 63;
  ++requests_;
  Exchange exchange{&*session_, command, sequence_, data, unit};
  auto done = co_await perform(exchange, deadline);
  auto reply = done ? exchange.outcome() : Result<Reply>{std::move(done).error()};
  used_ = Deadline::Clock::now();
  if (reply) {
    bytes_ += reply->data.size();
    // A FRU has checksums, and its texts are scrubbed when they are texts.
    if (&command != &kReadFru) bmc_limits_.secrets.scrub(reply->data);
    co_return reply;
  }
  // A BMC that restarted knows nothing of this session, and says nothing.
  const auto code = reply.error().code;
  if (code == Code::kTimeout || code == Code::kUnreachable) forget_session();
  co_return std::move(reply).error().within(node_ + ": " + command.name);
}

Task<Result<void>> Client::ensure_session(Deadline deadline) {
  if (is_open()) co_return ok();
  forget_session();
  if (!address_) {
    auto found = co_await transport_.resolve(access_.endpoint, deadline);
    if (!found) co_return std::move(found).error().within(node_);
    address_ = *found;
  }
  CO_TRY(const Semaphore::Permit alone, co_await bmc_limits_.login.enter(deadline));
  co_return co_await log_in(deadline);
}

Result<std::vector<Suite>> Client::suites() const {
  const auto requested = access_.cipher ? access_.cipher : transport_.behavior(*address_).suite;
  if (!requested) return std::vector{kSuite17, kSuite3};
  if (*requested == 3) return std::vector{kSuite3};
  if (*requested == 17) return std::vector{kSuite17};
  return Error{Code::kInvalid,
               node_ + ": cipher suite " + std::to_string(*requested) + ": Cupel speaks 3 and 17"};
}

void Client::remember(const Suite& suite) {
  transport_.behavior(*address_).suite = suite.number;
  if (suite.number != kSuite17.number || has_spoken_17()) return;
  const auto now = seconds_now();
  transport_.memory().keep_refusal(node_, std::string{kWeakerSuites},
                                   Refusal{.mark = "17", .salt = "-", .times = 1, .last = now});
}

bool Client::has_spoken_17() {
  return transport_.memory().refusal(node_, std::string{kWeakerSuites}).has_value();
}

Task<Result<void>> Client::log_in(Deadline deadline) {
  if (user_.size() > kLongestUser)
    co_return Error{Code::kInvalid, node_ + ": IPMI user names have at most 16 bytes"};
  CO_TRY(const auto suites_to_try, suites());
  auto secret = co_await password_();
  if (!secret) co_return std::move(secret).error().within(node_);
  auto& password = *secret;
  if (password.size() > kLongestPassword) {
    wipe(password);
    co_return Error{Code::kInvalid, node_ + ": IPMI passwords have at most 20 bytes"};
  }
  bmc_limits_.secrets.add_login(user_, password);
  auto done = bmc_limits_.logins.may_try(user_, password);
  if (!done) {
    wipe(password);
    co_return done;
  }
  std::string before;  // what was reported to the suites before this one
  for (const auto& suite : suites_to_try) {
    done = co_await log_in_with(suite, password, deadline);
    if (done) remember(suite);
    if (done || done.error().code != Code::kUnsupported) break;
    if (suites_to_try.size() > 1)
      done.error().what.insert(0, before + "cipher suite " + std::to_string(suite.number) + ": ");
    before = done.error().what + "; ";
    // Nothing proves who says so: what it could, it can. A stranger on the way would like SHA-1.
    if (suite.number == kSuite17.number && has_spoken_17() && !access_.cipher) {
      done = Error{Code::kUnsupported, done.error().what + "; it spoke cipher suite " +
                                           std::to_string(suite.number) +
                                           " before, and nothing weaker is tried: if that is "
                                           "meant, set ipmi: {cipher: 3} in the inventory; if "
                                           "it is another BMC, run: cupel bmc " +
                                           node_ + " accept-certificate"};
      break;
    }
  }
  if (done) bmc_limits_.logins.accepted(user_);
  if (!done && done.error().code == Code::kRefused) {
    (void)bmc_limits_.logins.refused(user_, password, {}, done.error().what);
    ++bmc_limits_.seen.refused;
  }
  done = within(node_ + ": log in as " + printable(user_), std::move(done));
  wipe(password);
  co_return done;
}

Task<Result<void>> Client::log_in_with(Suite suite, const std::string& password,
                                       Deadline deadline) {
  int stuck = 0;
  bool heard_twice = false;  // a refusal that anybody could have sent
  // A user who may not be an administrator may still be less than that.
  auto privilege = Privilege::admin;
  for (;;) {
    Login login{.suite = suite, .user = user_, .password = password, .privilege = privilege};
    login.session = transport_.fresh_session();
    login.random = random_block();
    login.tag = static_cast<std::uint8_t>(login.session << 2);
    Handshake handshake{std::move(login)};
    // What was begun is finished, so that its session is known and can be ended.
    CO_TRY(co_await perform(handshake, deadline, kLogOutPatience));
    auto session = handshake.outcome();
    if (session) {
      session_.emplace(*std::move(session));
      ++bmc_limits_.ipmi_sessions;
      ++sessions_;
      granted_ = privilege;
      level_ = Privilege::user;  // 22.18: every session begins as this
      used_ = Deadline::Clock::now();
      co_return ok();
    }
    if (!handshake.parting().empty()) (void)transport_.send(*address_, handshake.parting());
    if (handshake.stuck() && ++stuck < kMostStuck) continue;
    if (handshake.unproven() && !std::exchange(heard_twice, true)) continue;
    if (!handshake.refused_role() || privilege == Privilege::user)
      co_return std::move(session).error();
    privilege = privilege == Privilege::admin ? Privilege::operate : Privilege::user;
  }
}

Task<Result<void>> Client::ensure_privilege(const Command& command, Deadline deadline) {
  if (command.least <= level_ || level_ == granted_) co_return ok();
  co_return co_await raise_privilege(deadline);
}

Task<Result<void>> Client::raise_privilege(Deadline deadline) {
  Bytes level{static_cast<std::uint8_t>(granted_)};
  CO_TRY(const Reply reply, co_await send(kSetSessionPrivilege, std::move(level), 0, deadline));
  if (reply.completion == 0) {
    level_ = granted_;
    co_return ok();
  }
  // 22.18: 80h, 81h: not for this user, or not on this channel. What it may do, it still may.
  granted_ = level_;
  co_return ok();
}

Task<void> Client::tell(const Command& command, Bytes data) {
  const auto patience = Deadline::in(kLogOutPatience);
  const auto alone = co_await one_at_a_time_.enter(patience);
  if (!session_) co_return;
  sequence_ = (sequence_ + 1) & 63;
  Exchange exchange{&*session_, command, sequence_, data};
  // Whatever comes back: there is nothing more that could be done about it.
  (void)co_await transport_.perform(*address_, exchange, patience, kLogOutPatience);
}

Task<void> Client::log_out() {
  if (!session_) co_return;
  Bytes id;
  put32(id, session_->theirs());
  co_await tell(kCloseSession, std::move(id));
  forget_session();
}

}  // namespace cupel::bmc::ipmi
