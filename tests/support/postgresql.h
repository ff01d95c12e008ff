#pragma once
// A PostgreSQL server of a test program's own: made in a temporary folder when the first test wants
// it, stopped by its process id at the program's end. It is reached by a Unix socket in that
// folder, and over TLS, with a password, on the loopback.
#include <filesystem>
#include <memory>
#include <string>

namespace cupel::testing {

class Child;

class Postgresql {
 public:
  /// Started at the first call. Where root runs the test, the server runs as `postgres` or
  /// `nobody`. Throws std::runtime_error, with what the programs said.
  static Postgresql& of_this_program();
  ~Postgresql();

  /// Whether Debian's programs are there.
  static bool is_installed();

  std::filesystem::path socket() const;
  int port() const { return port_; }
  /// Of 127.0.0.1, signed by itself: PEM.
  const std::string& certificate() const { return certificate_; }
  static constexpr const char* kPassword = "it's \\ secret";
  /// The text of a store.yaml for a schema; by another socket's folder where that is given.
  std::string store_file(const std::string& schema, const std::string& socket_folder = {}) const;
  /// A schema's name that no test had before.
  std::string new_schema();
  void drop(const std::string& schema);

  /// Runs statements in a schema; the first value of the last one's result, "" if it has none.
  /// Throws std::runtime_error, with what the server said.
  std::string ask(const std::string& schema, const std::string& statements);

  /// Ends all connections but this call's own, as a restart of the server does.
  void end_connections();

 private:
  Postgresql();
  /// On a port that is free just now; false where it did not come up.
  bool start();

  std::filesystem::path folder_;
  int port_ = 0;
  std::string certificate_;
  std::unique_ptr<Child> server_;
  int schemas_ = 0;
};

}  // namespace cupel::testing
