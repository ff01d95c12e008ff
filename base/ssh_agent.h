#pragma once
// Signatures by a key that an SSH agent holds, and never shows: ssh-agent(1), gpg-agent, a
// forwarded one. Source: draft-miller-ssh-agent, "SSH agent protocol"; RFC 4251, 5; RFC 8709
// (Ed25519).
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {

/// The public key of Ed25519 as SSH carries it: the algorithm's name and the 32 bytes, each behind
/// its length in four bytes. Source: RFC 8709, 4.
std::string ssh_key_blob(std::string_view public_key);

/// The 64 bytes of Ed25519's signature over `bytes`, by the agent at the socket SSH_AUTH_SOCK.
/// `public_key`: the 32 bytes of the one that is to sign. Waits for a person who must agree, two
/// minutes at most. Not checked: verify_signature. Errors: kInvalid: there is no agent; kUntrusted:
/// it refused, or has no such key; kTimeout; kMalformed: it does not speak the protocol.
Result<std::string> sign_by_agent(std::string_view bytes, std::string_view public_key);

}  // namespace cupel
