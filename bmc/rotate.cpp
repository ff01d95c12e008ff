#include "bmc/rotate.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::bmc {
namespace {

/// One login: any question that only somebody who is logged in may ask.
Task<Result<void>> prove(const std::function<std::unique_ptr<Bmc>()>& open, Deadline deadline) {
  const auto bmc = open();
  auto reported = co_await bmc->power.state(deadline);
  co_await bmc->log_out();
  // What the BMC cannot tell, it has let us ask.
  if (reported || reported.error().code == Code::kUnsupported) co_return ok();
  co_return std::move(reported).error();
}

Task<Result<void>> change(const RotationDoors& doors, Deadline deadline) {
  const auto bmc = doors.with_old();
  auto changed = co_await bmc->accounts.change_password(doors.user, doors.new_password, deadline);
  co_await bmc->log_out();
  if (changed) co_return ok();
  co_return std::move(changed).error();
}

/// The pause that this answer asks for; nothing where there is no use in waiting for another.
/// An iLO refuses right passwords too: only several refusals in a row mean a wrong password, and
/// each wants a pause. Who gave up here would begin anew the next time, and never get to the old
/// one.
std::optional<std::chrono::milliseconds> pause_after(const Result<void>& answer, int asked,
                                                     Deadline deadline) {
  constexpr int kMostAsked = 8;
  if (answer || asked >= kMostAsked || answer.error().code != Code::kBusy) return std::nullopt;
  const auto pause = answer.error().retry_after;
  if (pause.count() <= 0 || deadline.left() <= pause) return std::nullopt;
  return pause;
}

/// Whether the BMC refused and asks for a pause: it may refuse a right password.
bool is_in_doubt(const Error& error) {
  return error.code == Code::kBusy && error.retry_after.count() > 0;
}

Task<Result<void>> prove_patiently(const std::function<std::unique_ptr<Bmc>()>& open,
                                   Deadline deadline) {
  for (int asked = 1;; ++asked) {
    auto proven = co_await prove(open, deadline);
    const auto pause = pause_after(proven, asked, deadline);
    if (!pause) co_return proven;
    CO_TRY(co_await pause_for(*pause));
  }
}

Task<Result<void>> change_patiently(const RotationDoors& doors, Deadline deadline) {
  for (int asked = 1;; ++asked) {
    auto changed = co_await change(doors, deadline);
    const auto pause = pause_after(changed, asked, deadline);
    if (!pause) co_return changed;
    CO_TRY(co_await pause_for(*pause));
  }
}

/// Whether the BMC has certainly kept the old password.
bool certainly_unchanged(Code code) {
  return code == Code::kRefused || code == Code::kNotFound || code == Code::kInvalid ||
         code == Code::kUnsupported || code == Code::kUntrusted;
}

Error stopped_trying(const RotationNote& note) {
  return Error{Code::kRefused,
               "the new password was refused " + std::to_string(note.refused) +
                   " times while its change was pending: nothing more is sent, so that the "
                   "account is not locked. Look at the BMC, then: password rotate --again"};
}

/// Whether the BMC accepts a password and does nothing with it before it is changed (DSP0266,
/// 13.3.7.2).
bool wants_change(const Error& error) {
  return error.what.find("PasswordChangeRequired") != std::string::npos;
}

/// Without the advice to do what is being done.
Error not_even_then(Error error) {
  const auto advice = error.what.find("; the BMC wants this account's password changed");
  if (advice != std::string::npos) error.what.erase(advice);
  error.what =
      "the BMC accepts the factory's password, wants it changed, and refuses the change: " +
      error.what;
  return error;
}

Error needs_another(Error error) {
  return Error{Code::kInvalid,
               "the BMC accepts the inventory's password and wants it changed to another one: "
               "write a new one into the inventory, and this one as the factory's: " +
                   std::move(error.what)};
}

Error neither(Error error, const std::optional<RotationNote>& before, const RotationNote& now) {
  const bool other = before && before->digest != now.digest;
  auto text = "neither the inventory's password nor the factory's is right: " + error.what;
  if (other)
    text +=
        "; an earlier change, to another password than the inventory's of today, was not "
        "finished: it may have that one";
  return Error{Code::kRefused, std::move(text)};
}

}  // namespace

std::string to_text(const RotationNote& note) {
  return "pending " + note.digest + " refused " + std::to_string(note.refused);
}

RotationNote rotation_note_of(std::string_view text) {
  const auto word = words(text);
  if (word.size() != 4 || word[0] != "pending" || word[2] != "refused") return {"unreadable", 0};
  return {std::string{word[1]}, number<int>(word[3]).value_or(0)};
}

std::string rotation_digest(std::string_view node, std::string_view user,
                            std::string_view password) {
  return secret_mark(password, std::string{node} + "\n" + std::string{user});
}

namespace {

/// What came of trying the old password in between.
struct Settled {
  enum class How { no, changed, failed } how = How::no;
  Error error{};  // of failed
};

/// After one refusal that need not mean a wrong password: where the old password is right, that
/// settles it with one refused login instead of five. `no` where that was refused too: both are to
/// be asked patiently.
Task<Result<Settled>> change_at_once(const RotationDoors& doors, std::chrono::milliseconds pause,
                                     Deadline deadline) {
  if (deadline.left() <= pause) co_return Settled{};
  CO_TRY(co_await pause_for(pause));
  auto changed = co_await change(doors, deadline);
  if (changed) co_return Settled{.how = Settled::How::changed};
  auto error = std::move(changed).error();
  const bool refused = error.code == Code::kRefused || is_in_doubt(error);
  if (!refused) co_return Settled{.how = Settled::How::failed, .error = std::move(error)};
  const auto again = std::max(pause, error.retry_after);
  if (deadline.left() > again) {
    CO_TRY(co_await pause_for(again));
  }
  co_return Settled{};
}

/// The last act: the new password is seen to work.
Task<Result<Rotated>> prove_change(const RotationDoors& doors, Deadline deadline) {
  doors.forget_refusals();
  const auto proven = co_await prove_patiently(doors.with_new, deadline);
  if (!proven && proven.error().code == Code::kRefused)
    co_return Error{Code::kFailed,
                    "the BMC accepted the new password, and refuses it: " + proven.error().what};
  if (!proven) co_return proven.error();
  CO_TRY(doors.write_note(std::nullopt));
  co_return Rotated::changed;
}

/// What is reported, and what becomes of the note, where the change did not come about.
Result<Rotated> not_changed(const RotationDoors& doors, Error error,
                            const std::optional<RotationNote>& before, const RotationNote& note) {
  // An older note may be of a password that the BMC still has: it stays for people to see.
  if (certainly_unchanged(error.code) && !before) {
    TRY(doors.write_note(std::nullopt));
  }
  if (wants_change(error)) return not_even_then(std::move(error));
  if (error.code == Code::kRefused) return neither(std::move(error), before, note);
  return error;
}

}  // namespace

Task<Result<Rotated>> rotate_password(RotationDoors doors, Deadline deadline) {
  RotationNote note{rotation_digest(doors.node, doors.user, doors.new_password), 0};
  CO_TRY(const auto before, doors.note());
  if (before) {
    if (before->digest == note.digest) note.refused = before->refused;
    if (note.refused >= kMostRefused) co_return stopped_trying(note);
    doors.forget_refusals();
  }
  auto proven = co_await prove(doors.with_new, deadline);
  const bool in_doubt = !proven && is_in_doubt(proven.error());
  if (in_doubt) {
    ++note.refused;
    CO_TRY(doors.write_note(note));
    const auto pause = proven.error().retry_after;
    CO_TRY(Settled settled, co_await change_at_once(doors, pause, deadline));
    if (settled.how == Settled::How::changed) co_return co_await prove_change(doors, deadline);
    if (settled.how == Settled::How::failed)
      co_return not_changed(doors, std::move(settled.error), before, note);
    proven = co_await prove_patiently(doors.with_new, deadline);
  }
  if (proven) {
    if (before || in_doubt) {
      CO_TRY(doors.write_note(std::nullopt));
    }
    co_return before ? Rotated::finished_earlier : Rotated::already;
  }
  if (wants_change(proven.error())) co_return needs_another(std::move(proven).error());
  if (proven.error().code != Code::kRefused) co_return std::move(proven).error();

  if (!in_doubt) ++note.refused;
  CO_TRY(doors.write_note(note));
  auto changed = co_await change_patiently(doors, deadline);
  if (!changed) co_return not_changed(doors, std::move(changed).error(), before, note);
  co_return co_await prove_change(doors, deadline);
}

}  // namespace cupel::bmc
