#pragma once
// The NVUE REST service of one NVLink switch: GET, PATCH and POST below /nvue_v1, with HTTP Basic
// and, where the switch asks for it, a certificate of ours. It knows no switch: that is facts.h.
// Source: NVOS User Manual for NVLink Switches, NVUE API.
#include <string>

#include "base/json.h"
#include "bmc/redfish/transport.h"
#include "bmc/secret_source.h"

namespace cupel::bmc::nvos {

class Nvue {
 public:
  /// Nothing is sent before the first request. `transport` must outlive it.
  Nvue(redfish::Transport& transport, redfish::Peer peer, std::string user, SecretSource password);

  /// The document at `path` below /nvue_v1 ("cluster", "sdn/partition?rev=operational").
  /// Errors: as Transport::send; kRefused (the password is wrong: it is tried once; or it is still
  /// the factory's), kNotFound, kConflict, kBusy (the service restarts), kMalformed (no JSON),
  /// kFailed.
  Task<Result<json::value>> get(std::string path, Deadline deadline);
  /// Sent once. Errors: as get().
  Task<Result<json::value>> patch(std::string path, json::value body, Deadline deadline);
  Task<Result<json::value>> post(std::string path, json::value body, Deadline deadline);

  const std::string& name() const { return peer_.node; }

 private:
  Task<Result<json::value>> ask(redfish::Method method, std::string path, std::string body,
                                Deadline deadline);
  Result<void> note_login(int status, const std::string& password, Error refusal);

  redfish::Transport& transport_;
  redfish::Peer peer_;
  std::string user_;
  SecretSource password_;
  bool proven_ = false;  // the switch has accepted the password
};

/// One word of a path: what may not stand in one becomes %XX ("/" too).
std::string path_word(std::string_view word);

/// A text, or a number as its text; without controls, at most 200 bytes. Empty: neither.
std::string word_of(const json::value* value);
/// The same at `path`.
std::string word_at(const json::value& body, std::string_view path);

}  // namespace cupel::bmc::nvos
