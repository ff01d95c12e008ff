#pragma once
// A BMC's password, from the factory's to ours, so that a crash at any moment loses neither the BMC
// nor the account. Pure protocol over two ways to log in and a note that outlives the process; no
// store, no inventory, no retries.
#include <functional>
#include <memory>

#include "bmc/bmc.h"

namespace cupel::bmc {

/// Written before the password is changed, and gone when the new one was seen to work. No secrets.
struct RotationNote {
  std::string digest;  // of the new password: tells two apart, and is too short to find one by
  int refused = 0;     // logins with the new password that the BMC has refused since
  friend bool operator==(const RotationNote&, const RotationNote&) = default;
};

/// "pending 1f2e3d4c refused 1", and back: a note that cannot be read is one of another password.
std::string to_text(const RotationNote& note);
RotationNote rotation_note_of(std::string_view text);

/// Leads back to no password: base/digest.h, secret_mark, salted with node and user.
std::string rotation_digest(std::string_view node, std::string_view user,
                            std::string_view password);

/// What it needs of the world. All are called on the loop's thread.
struct RotationDoors {
  std::string node;
  std::string user;  // whose password is changed, and who logs in with the new one
  std::string new_password;
  std::function<std::unique_ptr<Bmc>()> with_new{};  // nothing is sent before the first verb
  std::function<std::unique_ptr<Bmc>()> with_old{};
  std::function<Result<std::optional<RotationNote>>()> note{};
  /// Durable when it returns; nothing takes the note away.
  std::function<Result<void>(std::optional<RotationNote>)> write_note{};
  /// The BMC's credentials have changed, or may have: what was refused before may be tried again.
  std::function<void()> forget_refusals{};
};

enum class Rotated { already, finished_earlier, changed };

/// Ends with the new password proven by a login, whatever was done of it before. Tries the new one,
/// then the old one, each once; and the new one once more only after the BMC has accepted the
/// change. Where one refusal does not mean a wrong password, or wants a pause (iLO), it waits in
/// here, tries the old one after a single refusal, and asks again, a few times, only where that one
/// is refused too. With a note that counts kMostRefused refused logins nothing is sent any more: an
/// account is locked by less. Errors: kRefused (neither is right, or nothing is tried any more);
/// kNotFound (no such user); kInvalid (the BMC's password policy); kStorage (nothing was changed);
/// kFailed (accepted, and then refused); whatever else the BMC's verbs end with: then it may be
/// called again.
Task<Result<Rotated>> rotate_password(RotationDoors doors, Deadline deadline);

inline constexpr int kMostRefused = 3;

}  // namespace cupel::bmc
