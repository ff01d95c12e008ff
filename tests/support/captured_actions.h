#pragma once
// A captured machine that does what it is asked, in its own layout: what can be set is set, what it
// refuses is refused in the standard's words, actions do what they say. For HttpsServer; it shares
// no code with the client under test.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace cupel::test {

/// What a BMC answers to a PATCH or POST.
struct Written {
  int status = 204;
  std::string body{};
};

/// The resources of a machine, as they are now.
class Resources {
 public:
  virtual ~Resources() = default;
  virtual std::optional<json::value> read(const std::string& uri) = 0;
  virtual void write(const std::string& uri, json::value body) = 0;
  virtual void set_password(const std::string& user, const std::string& password) = 0;
  virtual void end_sessions() = 0;
};

/// How a machine takes what is written to it. Nothing where this is not its business.
using Writes = std::function<std::optional<Written>(
    const std::string& method, const std::string& uri, const json::value& body, Resources& now)>;

/// What it did, so far; outlives the server that it is given to.
struct Done {
  std::vector<std::string> actions{};  // "ComputerSystem.Reset {...}"
  std::vector<std::string> patched{};  // URIs
};

/// The standard's ways, over whatever tree there is. Source: DSP0266, 7.5, 7.9 and 8; DSP0268.
Writes captured_actions(Done& done);

/// An error body with one message, as the standard has it. Source: DSP0266, 8.6.
std::string refusal(const std::string& id, const std::string& text);

}  // namespace cupel::test
