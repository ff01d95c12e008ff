#pragma once
// How politely one BMC is asked, by everything in this process that talks to it, whatever protocol
// it speaks: so many requests at a time, one login attempt, one upload, one slow answer. BMCs
// answer bursts with resets and crashes. Not a retry policy.
#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "base/task.h"
#include "bmc/memory.h"
#include "bmc/memory_use.h"
#include "bmc/sent_secrets.h"

namespace cupel::bmc {

/// A gate that lets `width` callers in at a time, in the order in which they came. One thread only.
class Semaphore {
 public:
  explicit Semaphore(int width) : width_{width}, free_{width} {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// The right to be inside; leaving is its destruction. The gate must outlive it.
  class Permit {
   public:
    explicit Permit(Semaphore& gate) : gate_{&gate} {}
    Permit(Permit&& other) noexcept : gate_{std::exchange(other.gate_, nullptr)} {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    Semaphore* gate_;
  };

  /// Waits for its turn. Cancel-safe. Errors: kTimeout at the deadline; kCancelled; kBusy where
  /// more than kMostWaiting are in line.
  Task<Result<Permit>> enter(Deadline deadline);

  /// Lets fewer in at a time from now on; who is inside stays. Never widens.
  void narrow_to(int width) {
    const int fewer = std::max(width_ - width, 0);
    width_ -= fewer;
    free_ -= fewer;
  }

  int width() const { return width_; }
  int inside() const { return width_ - free_; }
  int waiting() const { return static_cast<int>(line_.size()); }

  static constexpr std::size_t kMostWaiting = 1000;

 private:
  struct Waiter {
    asio::steady_timer wake;
    bool admitted = false;
  };
  void leave();

  int width_, free_;
  std::deque<Waiter*> line_;
};

/// What a vendor's refusals mean.
struct RefusalRules {
  int wrong_after = 1;                      // refusals in a row that mean wrong credentials
  std::chrono::milliseconds pause_after{};  // before the next credentials may be tried
};

/// Who may still try to log in to one BMC: one refusal stops everybody, here and in processes to
/// come, until the credentials change.
class Logins {
 public:
  Logins(Memory& memory, std::string node) : memory_{memory}, node_{std::move(node)} {}

  /// Errors: kRefused where these were refused; kBusy within the pause after another refusal.
  Result<void> may_try(const std::string& user, const std::string& password) const;

  /// Whether the credentials are wrong. If not, they may be tried again after the pause.
  /// `words` are those of the refusal: whoever may not try hears them.
  bool refused(const std::string& user, const std::string& password, RefusalRules rules = {},
               std::string words = {});

  /// Whether this password was refused since it was accepted last.
  bool was_refused(const std::string& user, const std::string& password) const;

  void accepted(const std::string& user);

  /// Whose credentials were refused last, here; empty: nobody's.
  const std::string& refused_user() const { return refused_user_; }

 private:
  Memory& memory_;
  std::string node_;
  std::string refused_user_{};
  std::string words_{};  // of the last refusal, here
  Deadline not_before_ = Deadline::at({});
};

/// Requests in a row whose connection the BMC accepted and which it never answered.
struct Silence {
  int requests = 0;
  Deadline::Clock::time_point since{};  // when the first of them began

  void note(Deadline::Clock::time_point begun) {
    if (requests++ == 0) since = begun;
  }
};

/// What everything in this process that talks to one BMC shares.
struct BmcLimits {
  BmcLimits(Memory& memory, const std::string& node, int requests)
      : at_once{requests}, logins{memory, node}, seen{memory.budget(node).value_or(Budget{})} {}
  Semaphore at_once;  // requests in flight
  Semaphore slow{1};  // of these, for answers that take minutes: they never hold every place
  Semaphore login{
      1};  // whoever tries credentials is alone: a wrong password is sent once, not by all
  Semaphore upload{1};  // of firmware
  Logins logins;
  SentSecrets secrets;  // that it was sent, by whatever protocol
  const std::shared_ptr<MemoryUse> memory = std::make_shared<MemoryUse>();  // of its answers
  int long_reads = 0;            // under way: every place in at_once will be needed again soon
  Budget seen;                   // counters; what is in use now is reported by snapshot()
  Silence silence{};             // of its Redfish
  bool redfish_session = false;  // one is open
  int ipmi_sessions = 0;         // that are open; a console has its own
  /// Its firmware may be being written until then: some refuse all logins meanwhile.
  Deadline firmware_until = Deadline::at({});

  /// At least so long from now.
  void expect_firmware_written(std::chrono::milliseconds span) {
    const auto until = Deadline::in(span);
    if (firmware_until.when() < until.when()) firmware_until = until;
  }

  Budget snapshot() const;
};

/// Many questions in a row, until they come to their end: what was opened to ask them two at a time
/// is not closed at each moment in which only one is on its way. The limits must outlive it.
class LongRead {
 public:
  explicit LongRead(BmcLimits& bmc_limits) : bmc_limits_{&bmc_limits} { ++bmc_limits_->long_reads; }
  LongRead(const LongRead&) = delete;
  LongRead& operator=(const LongRead&) = delete;
  ~LongRead() { nearly_done(); }

  /// From now on nothing is kept for questions that may come. Idempotent.
  void nearly_done() {
    if (auto* bmc_limits = std::exchange(bmc_limits_, nullptr)) --bmc_limits->long_reads;
  }

 private:
  BmcLimits* bmc_limits_;
};

/// The limits of every BMC, by its node's name: whatever protocol, whatever address. One for the
/// whole process.
class AllBmcLimits {
 public:
  /// `memory`, where there is one, must outlive this.
  explicit AllBmcLimits(Memory* memory = nullptr)
      : memory_{memory != nullptr ? memory : &forgetful_} {}
  AllBmcLimits(const AllBmcLimits&) = delete;
  AllBmcLimits& operator=(const AllBmcLimits&) = delete;
  /// Keeps what was seen.
  ~AllBmcLimits() { keep(); }

  /// Lives as long as this does.
  BmcLimits& of(const std::string& node, int requests = 2);

  /// Nothing where this process has not asked it.
  std::optional<Budget> budget(const std::string& node) const;

  /// Writes down how the BMCs fared that were asked since the last time.
  void keep();
  /// The same, at most once a minute: for whoever ends one piece of work of many.
  void keep_now_and_then();

  Memory& memory() { return *memory_; }

 private:
  InMemoryBmcState forgetful_;
  Memory* memory_;
  std::map<std::string, std::unique_ptr<BmcLimits>> all_;
  std::map<std::string, std::int64_t> kept_;  // requests at the last time
  Deadline next_ = Deadline::in(std::chrono::minutes{1});
};

}  // namespace cupel::bmc
