#include "orchestrator/ssh/login.h"

#include <cstdlib>

#include "orchestrator/ssh/key_file.h"

namespace cupel::ssh {
namespace {

Task<Result<int>> offer_key(Link& link, std::string user, std::shared_ptr<ssh_key_struct> key) {
  // The name is part of each call: libssh keeps none between two of them.
  const auto step = [&link, &user, &key] {
    return ssh_userauth_publickey(link.session(), user.c_str(), key.get());
  };
  co_return co_await link.settle(step, SSH_AUTH_AGAIN);
}

Task<Result<int>> ask_agent(Link& link, std::string user) {
  const auto step = [&link, &user] { return ssh_userauth_agent(link.session(), user.c_str()); };
  co_return co_await link.settle(step, SSH_AUTH_AGAIN);
}

Error refused(std::string_view user, std::string_view what) {
  return Error{Code::kRefused, "the node does not let " + std::string{user} + " in with " +
                                   std::string{what} +
                                   ". Is its public half in authorized_keys there?"};
}

}  // namespace

Task<Result<void>> shake_hands(Link& link) {
  const auto step = [&link] { return ssh_connect(link.session()); };
  CO_TRY(const int outcome, co_await link.settle(step, SSH_AGAIN));
  if (outcome == SSH_OK) {
    link.open_for_channels();
    co_return ok();
  }
  auto why = link.broken("SSH handshake");
  if (why.what.find("no match for method") != why.what.npos) why.code = Code::kUnsupported;
  co_return why;
}

Result<std::string> fingerprint(Link& link) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(link.session(), &raw) != SSH_OK)
    return Error{Code::kMalformed, "the node showed no host key"};
  const Key key{raw};
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (ssh_get_publickey_hash(key.get(), SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK)
    return Error{Code::kMalformed, "the node's host key has no hash"};
  char* printed = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  std::string text = printed != nullptr ? printed : "";
  ssh_string_free_char(printed);
  ssh_clean_pubkey_hash(&hash);
  return text;
}

Task<Result<void>> log_in(Link& link, std::string user, std::string key_file) {
  int outcome = SSH_AUTH_ERROR;
  std::string what = "the key in " + key_file;
  if (key_file.empty()) {
    what = "any key of the agent";
    if (std::getenv("SSH_AUTH_SOCK") == nullptr)
      co_return Error{Code::kRefused,
                      "no key_file in the inventory, and no agent (SSH_AUTH_SOCK is not set)"};
    CO_TRY(outcome, co_await ask_agent(link, user));
  } else {
    CO_TRY(auto key, private_key(key_file));
    CO_TRY(outcome, co_await offer_key(link, user, key));
  }
  if (outcome == SSH_AUTH_SUCCESS) co_return ok();
  if (outcome == SSH_AUTH_ERROR && !link.alive()) co_return link.broken("login");
  co_return refused(user, what);
}

}  // namespace cupel::ssh
