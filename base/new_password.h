#pragma once
// A new password for a machine's account, that most BMCs take. Not a place to keep one.
#include <string>

namespace cupel {

/// `length` (16 to 20: IPMI 2.0, 22.30, keeps 20 bytes) characters from OpenSSL's generator, with
/// at least one lower-case and one upper-case letter, one digit and one of "-_.+=". Characters that
/// are easily taken for each other (l, I, O, 0, 1) are left out. Asserts that there is randomness.
std::string new_password(std::size_t length = 20);

}  // namespace cupel
