#pragma once
// What the API can do, as a table: one row for each operation, by which requests are routed and
// checked and the OpenAPI document is written.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "orchestrator/api/exchange.h"
#include "orchestrator/api/field.h"
#include "orchestrator/api/identity.h"
#include "orchestrator/api/problem.h"

namespace cupel::api {

class RequestHandler;

using Reply = std::variant<Answer, Problem>;

/// A request that was routed and checked, and who asks.
struct Call {
  const Request& request;
  const Identity& identity;
  std::map<std::string, std::string, std::less<>> values{};  // of path and query
  boost::json::object body{};
  std::string change{};  // store::KeptReply::id(), of what has an Idempotency-Key

  /// Empty where it is absent.
  std::string text(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t usual) const;
  /// Of the body; empty where it is absent.
  std::string body_text(std::string_view name) const;
};

struct Operation {
  enum class Lane { light, heavy };  // heavy: may take longer than a moment
  std::string_view method{};
  std::string_view path{};  // "/api/v1/runs/{run}"
  std::string_view id{};    // "getRun"
  std::string_view what{};
  Role role = Role::viewer;
  Lane lane = Lane::light;
  std::span<const Field> in_path{};
  std::span<const Field> query{};
  std::span<const Field> body{};  // of a POST
  std::string_view answer{};      // a schema of openapi.cpp; empty: another type
  std::string_view type = "application/json";
  unsigned status = 200;          // where it goes well
  bool is_list = false;           // {"items": [...], "next": "..."}
  bool is_array = false;          // [...]: for clients that want nothing around it
  bool login = false;             // asks for no login, and needs no idempotency key
  bool keeps_reply = true;        // of a POST; false: it changes nothing, and is done each time
  std::string_view two_person{};  // what a site may want two people for
  Reply (*handle)(RequestHandler& handler, const Call& call) = nullptr;
};

/// All of them, as operations.cpp lists them.
std::span<const Operation> operations();

struct Route {
  const Operation* operation = nullptr;  // nullptr: there is none
  std::map<std::string, std::string, std::less<>> values{};
  std::string allow{};  // methods that the path has
};

Route route_of(std::string_view method, std::string_view path);

/// What is wrong with values of path, query and body; takes them into `call`.
std::optional<Problem> take_values(const Operation& operation, const Route& route, Call& call);

}  // namespace cupel::api
