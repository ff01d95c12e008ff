#pragma once
// A BMC that repeats every secret that it hears, spelled in every way that software spells texts.
#include <string>
#include <vector>

#include "tests/support/https_server.h"

namespace cupel::test {

enum class EchoIn {
  logins,     // refuses each login with 400 and the value in the message, as standard registries do
  refusals,   // takes the login, and refuses everything else
  documents,  // answers everything, with what it heard behind every text
};

/// For HttpsServer::Options::last_word. What it hears is kept in it.
std::function<void(Exchanged&)> echo(EchoIn where);

/// Every spelling of a secret that it uses, and that therefore must not be found anywhere.
std::vector<std::string> spellings(const std::string& secret);
/// As a Basic header has them.
std::string basic_of(const std::string& user, const std::string& password);

}  // namespace cupel::test
