#pragma once
// A BMC for tests: a captured tree over HTTPS on a thread of its own, with sessions, a power
// button and a boot override, and with every bad habit that a test asks for. It shares no code with
// the client under test.
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "inventory/model.h"
#include "tests/support/captured_actions.h"

namespace cupel::test {

/// What to do to the next requests that fit, instead of answering them properly.
struct Habit {
  /// cut: the head, the beginning of a chunked body, and the connection ends. act_and_reset: it
  /// does what it was asked to, and the connection ends without an answer.
  enum class Kind { answer, reset_connection, act_and_reset, never_answer, cut };
  std::string method{};  // empty: any
  std::string path{};    // that the request's begins with; empty: any
  int times = 1;
  Kind kind = Kind::answer;
  int status = 503;
  std::string body{};
  std::map<std::string, std::string> headers{};
  int skip = 0;  // let so many that fit pass first
};

/// One request and what is about to be answered.
struct Exchanged {
  std::string method, path;
  std::string token, authorization;  // as the headers had them
  std::string body;
  int status;
  std::string answer;
};

/// What it was asked, so far.
struct Asked {
  int requests = 0;
  int logins = 0;                    // POST to the sessions
  int refused = 0;                   // of these, or of Basic, with wrong credentials
  int open_sessions = 0;             // now
  int most_in_flight = 0;            // at any time
  int connections = 0;               // that completed a handshake
  int resumed = 0;                   // of these, without showing a certificate
  std::vector<std::string> lines{};  // "GET /redfish/v1"
  std::vector<std::string> resets{};
  std::vector<std::string> patches{};  // "URI If-Match body"
  std::size_t body_bytes = 0;          // of answers to GETs
  int unchanged = 0;                   // GETs answered with 304
  int compressible = 0;                // requests that do not rule a compressed answer out
};

class HttpsServer {
 public:
  struct Options {
    std::filesystem::path tree{};           // of a capture; empty: a small made-up machine
    std::string serial{};                   // of that one; empty: as small_machine() has it
    std::string password = "open sesame";   // of user "admin"
    std::chrono::milliseconds thinking{0};  // before each answer
    int gathers = 0;                        // requests that are in flight together once, before it
    std::optional<int> answers{};           // the first so many requests of all; others wait
    int looks_until_power_changes = 0;      // reads of the system after a reset
    bool sessions_exhausted = false;        // 503 RAC0218 to every login
    bool wants_if_match = false;            // 428 without, 412 with another ETag
    bool forgets_patches = false;           // 200, and nothing changes
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;            // 0: whichever is free
    std::string session_prefix{};      // of the names of sessions
    bool refuses_tokens_once = false;  // 401 to every token there is, without forgetting sessions
    Writes writes{};                   // takes PATCH and POST first, if it is there
    bool expands = true;               // $expand; else 501
    std::string dropped_by_expand{};   // a property that members lack within an expanded list
    std::string client_ca{};           // PEM; whoever shows no certificate of it gets nothing
    std::function<void(Exchanged&)> last_word{};  // may change the status and the answer
  };

  explicit HttpsServer(Options options);
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;
  ~HttpsServer();

  inventory::Endpoint endpoint() const;
  std::string fingerprint() const;      // "SHA256:..."
  std::string certificate_pem() const;  // self-signed, for 127.0.0.1

  void misbehave(Habit habit);
  void set(const std::string& uri, json::value body);  // what it answers from now on
  void expire_sessions();
  void change(const std::function<void(Options&)>& how);
  /// Same address, new key and certificate; all connections gone. With the same ticket keys it
  /// would still resume TLS sessions from before.
  void restart_with_new_certificate(bool same_ticket_keys = false);
  void speak_tls_1_2();
  void speak_tls_1_1();  // and nothing newer
  /// Sends it on every open stream of events (GET of kEventStream).
  void publish(const std::string& event_stream_text);
  /// Ends these streams.
  void end_streams();

  static constexpr const char* kEventStream = "/redfish/v1/EventService/SSE";

  Asked asked() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::test
