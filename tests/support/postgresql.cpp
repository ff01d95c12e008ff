#include "tests/support/postgresql.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <vector>

#include "tests/support/certificate.h"
#include "tests/support/child.h"
#include "tests/support/free_port.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

/// Of Debian 12, or of Debian 13.
const fs::path kPrograms{fs::exists("/usr/lib/postgresql/15/bin/initdb")
                             ? "/usr/lib/postgresql/15/bin"
                             : "/usr/lib/postgresql/17/bin"};

/// Whom the server runs as; nothing where that is who we are.
const passwd* other_user() {
  if (::geteuid() != 0) return nullptr;
  const auto* user = ::getpwnam("postgres");
  return user != nullptr ? user : ::getpwnam("nobody");
}

/// A command line that runs as that user, and whose process is sent `signal` when ours ends: the
/// kernel forgets what Child has asked for as the user changes.
std::vector<std::string> as_user(std::vector<std::string> words) {
  std::vector<std::string> all{"setpriv", "--pdeathsig", "QUIT"};
  if (const auto* user = other_user())
    all.insert(all.end(), {"--reuid", std::to_string(user->pw_uid), "--regid",
                           std::to_string(user->pw_gid), "--clear-groups"});
  all.push_back("--");
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void succeed(std::vector<std::string> words) {
  const auto ran = run(as_user(std::move(words)));
  if (ran.status != 0) throw std::runtime_error{"PostgreSQL: " + ran.out + ran.err};
}

/// For the server's user alone.
void write_for_server(const fs::path& file, const std::string& text) {
  std::ofstream{file} << text;
  fs::permissions(file, fs::perms{0600});
  const auto* user = other_user();
  if (user != nullptr && ::chown(file.c_str(), user->pw_uid, user->pw_gid) != 0)
    throw std::runtime_error{"cannot give " + file.string() + " away"};
}

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

}  // namespace

bool Postgresql::is_installed() { return fs::exists(kPrograms / "initdb"); }

Postgresql& Postgresql::of_this_program() {
  static Postgresql server;
  return server;
}

Postgresql::Postgresql() {
  std::string name{"/tmp/cupel-postgresql-XXXXXX"};  // a socket's path has at most 107 bytes
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error{"no folder for PostgreSQL"};
  folder_ = name;
  if (const auto* user = other_user())
    if (::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0)
      throw std::runtime_error{"cannot give " + name + " away"};
  const auto data = (folder_ / "data").string();
  succeed({(kPrograms / "initdb").string(), "-D", data, "-U", "cupel", "--auth-local=trust",
           "--auth-host=reject", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"});
  const auto made = test::make_certificate();
  certificate_ = made.certificate_pem;
  write_for_server(folder_ / "data/server.key", made.key_pem);
  write_for_server(folder_ / "data/server.crt", made.certificate_pem);
  write_for_server(folder_ / "data/pg_hba.conf",
                   "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n");
  // Another process may take the port before the server does.
  for (int tries = 1; !start(); ++tries)
    if (tries == 4) throw std::runtime_error{"PostgreSQL did not start: " + server_->wait().err};
  ask("public", "ALTER ROLE cupel PASSWORD 'it''s \\ secret'");
}

bool Postgresql::start() {
  port_ = test::free_port();
  std::vector<std::string> words{(kPrograms / "postgres").string(), "-D",
                                 (folder_ / "data").string()};
  for (const auto& setting :
       {"unix_socket_directories=" + folder_.string(), std::string{"listen_addresses=127.0.0.1"},
        "port=" + std::to_string(port_), std::string{"ssl=on"}, std::string{"fsync=off"},
        std::string{"autovacuum=off"}, std::string{"jit=off"}, std::string{"shared_buffers=32MB"},
        std::string{"max_connections=40"}, std::string{"log_min_messages=log"}})
    words.insert(words.end(), {"-c", setting});
  server_ = std::make_unique<Child>(as_user(words));
  return server_->wait_for("ready to accept connections");
}

Postgresql::~Postgresql() {
  server_->signal(SIGQUIT);  // at once: nothing of it is needed any more
  server_->wait();
  std::error_code gone;
  fs::remove_all(folder_, gone);
}

fs::path Postgresql::socket() const { return folder_ / (".s.PGSQL." + std::to_string(port_)); }

std::string Postgresql::store_file(const std::string& schema,
                                   const std::string& socket_folder) const {
  return "postgresql:\n  host: " + (socket_folder.empty() ? folder_.string() : socket_folder) +
         "\n  port: " + std::to_string(port_) + "\n  database: postgres\n  schema: " + schema +
         "\n";
}

std::string Postgresql::new_schema() {
  return "test_" + std::to_string(::getpid()) + "_" + std::to_string(++schemas_);
}

void Postgresql::drop(const std::string& schema) {
  ask("public", "DROP SCHEMA IF EXISTS " + schema + " CASCADE");
}

std::string Postgresql::ask(const std::string& schema, const std::string& statements) {
  const auto how = "host=" + folder_.string() + " port=" + std::to_string(port_) +
                   " user=cupel dbname=postgres options='-c search_path=" + schema +
                   " -c client_min_messages=error'";
  const Connection connection{PQconnectdb(how.c_str()), PQfinish};
  if (PQstatus(connection.get()) != CONNECTION_OK)
    throw std::runtime_error{PQerrorMessage(connection.get())};
  const Answer answer{PQexec(connection.get(), statements.c_str()), PQclear};
  const auto status = PQresultStatus(answer.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error{statements + ": " + PQresultErrorMessage(answer.get())};
  return PQntuples(answer.get()) > 0 ? PQgetvalue(answer.get(), 0, 0) : "";
}

void Postgresql::end_connections() {
  ask("public",
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE backend_type = 'client "
      "backend' AND pid <> pg_backend_pid()");
}

}  // namespace cupel::testing
