// The OpenAPI document, and every operation that it describes with valid, edge and invalid input:
// none answers with a fault of the service's own.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "orchestrator/console/bounded_log.h"
#include "tests/orchestrator/api/api_fixture.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::test {
namespace {

using ::testing::HasSubstr;

/// A value that the schema allows.
std::string valid(const json::object& schema, const std::string& name) {
  if (const auto* words = schema.if_contains("enum"))
    return std::string{words->as_array().front().as_string()};
  const auto type = std::string{schema.at("type").as_string()};
  if (type == "integer") return std::to_string(schema.at("minimum").to_number<std::int64_t>());
  if (type == "boolean") return "true";
  if (name == "run") return "1";
  if (name == "node") return "a01-n01";
  if (name == "sha256") return std::string(64, 'a');
  return "all";
}

/// Values at and beyond what the schema allows.
std::vector<std::string> edges(const json::object& schema) {
  std::vector<std::string> values{"",
                                  "%00",
                                  "%F0%9F%98%80",
                                  "-1",
                                  "0",
                                  "1e9",
                                  "null",
                                  "true",
                                  "'%20OR%201=1",
                                  "..%2f..%2f",
                                  std::string(3000, 'a'),
                                  "99999999999999999999"};
  if (const auto* most = schema.if_contains("maximum"))
    values.push_back(std::to_string(most->to_number<std::int64_t>()));
  return values;
}

json::value valid_value(const json::object& schema, const std::string& name) {
  const auto type = std::string{schema.at("type").as_string()};
  if (type == "integer") return schema.at("minimum");
  if (type == "boolean") return true;
  if (type == "object") return json::object{};
  return json::string{valid(schema, name)};
}

const std::vector<json::value>& wrong_values() {
  static const std::vector<json::value> values = [] {
    std::vector<json::value> all;
    for (const auto* text :
         {"null", "true", "-1", "1.5", "\"\"", "\"\\n\"", "[1]", "{}", "{\"a\":1}", "9e300"})
      all.push_back(parse_json(text).value());
    all.emplace_back(json::string(5000, 'a'));
    return all;
  }();
  return values;
}

class ApiDocument : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    run_of_two();
    auto options = usual();
    write("service.yaml", "requests_per_second: 100000\n");
    options.settings = file("service.yaml");
    serve(options);
    document_ = get("/api/openapi.json").json().as_object();
  }

  struct Operation {
    std::string method{}, path{};
    json::object described{};
  };
  std::vector<Operation> all() const {
    std::vector<Operation> found;
    for (const auto& [path, methods] : document_.at("paths").as_object())
      for (const auto& [method, described] : methods.as_object())
        found.push_back({std::string{method}, std::string{path}, described.as_object()});
    return found;
  }

  /// A stream that is right has no end: whoever asks for one leaves before.
  Heard send(const Operation& operation, const std::string& target, const std::string& body) {
    if (operation.path.ends_with("/stream")) return {};
    auto method = operation.method;
    for (char& c : method) c = static_cast<char>(std::toupper(c));
    const auto heard = ask({.method = method,
                            .target = target,
                            .body = body,
                            .fields = {"Idempotency-Key: k" + std::to_string(++sent_)}});
    ++statuses_[heard.status / 100];
    // 503 is the answer for a BMC that nothing listens for.
    if (!operation.path.ends_with("/locate") || heard.status != 503)
      EXPECT_NE(heard.status / 100, 5) << method << " " << target << " " << body << "\n"
                                       << heard.body;
    EXPECT_GE(heard.status, 200) << method << " " << target;
    return heard;
  }

  /// The path with its parameters; `odd` in place of the one that is named.
  static std::string target(const Operation& operation, const std::string& odd = {},
                            const std::string& value = {}) {
    auto path = operation.path;
    std::string query;
    const auto* parameters = operation.described.if_contains("parameters");
    if (parameters == nullptr) return path;
    for (const auto& each : parameters->as_array()) {
      if (!each.as_object().contains("in")) continue;
      const auto name = std::string{each.at("name").as_string()};
      const auto& schema = each.at("schema").as_object();
      const bool is_odd = name == odd;
      const auto text = is_odd ? value : valid(schema, name);
      if (each.at("in").as_string() == "path")
        path.replace(path.find("{" + name + "}"), name.size() + 2, text);
      else if (is_odd || each.at("required").as_bool())
        query += (query.empty() ? "?" : "&") + name + "=" + text;
    }
    return path + query;
  }

  static json::object body_schema(const Operation& operation) {
    const auto* body = operation.described.if_contains("requestBody");
    if (body == nullptr) return {};
    return body->at("content").at("application/json").at("schema").as_object();
  }
  static json::object valid_body(const json::object& schema) {
    json::object body;
    const auto* required = schema.if_contains("required");
    if (required == nullptr) return body;
    for (const auto& name : required->as_array()) {
      const std::string key{name.as_string()};
      body[key] = valid_value(schema.at("properties").at(key).as_object(), key);
    }
    return body;
  }

  json::object document_{};
  std::map<int, int> statuses_{};
  int sent_ = 0;
};

TEST_F(ApiDocument, NamesEveryOperationOnce) {
  std::set<std::string> ids;
  for (const auto& each : all())
    EXPECT_TRUE(ids.insert(std::string{each.described.at("operationId").as_string()}).second);
  EXPECT_EQ(document_.at("openapi"), "3.1.0");
  EXPECT_GT(ids.size(), 35u);
}

TEST_F(ApiDocument, EveryReferenceLeadsToASchema) {
  const auto text = json::serialize(document_);
  const auto& schemas = document_.at("components").at("schemas").as_object();
  int found = 0;
  constexpr std::string_view kPrefix = "#/components/schemas/";
  for (auto at = text.find(kPrefix); at != text.npos; at = text.find(kPrefix, at + 1), ++found) {
    const auto begin = at + kPrefix.size();
    EXPECT_TRUE(schemas.contains(text.substr(begin, text.find('"', begin) - begin)));
  }
  EXPECT_GT(found, 50);
}

TEST_F(ApiDocument, EveryOperationStandsValidEdgeAndInvalidInput) {
  for (const auto& operation : all()) {
    const auto schema = body_schema(operation);
    const auto body = valid_body(schema);
    const bool has_body = !schema.empty();
    const auto text = has_body ? json::serialize(body) : std::string{};
    // Its BMC is nobody's: a request of it takes as long as its patience.
    send(operation, target(operation), text);
    if (const auto* parameters = operation.described.if_contains("parameters"))
      for (const auto& each : parameters->as_array())
        if (each.as_object().contains("in"))
          for (const auto& value : edges(each.at("schema").as_object()))
            send(operation, target(operation, std::string{each.at("name").as_string()}, value),
                 text);
    send(operation, target(operation) + "?unknown=1", text);
    if (!has_body) continue;
    for (const auto* broken : {"{", "[]", "null", "\"a\"", "{\"unknown\":1}", "{}"})
      send(operation, target(operation), broken);
    for (const auto& member : schema.at("properties").as_object())
      for (const auto& value : wrong_values()) {
        auto odd = body;
        odd[member.key()] = value;
        send(operation, target(operation), json::serialize(odd));
      }
  }
  EXPECT_GT(statuses_[2], 20);
  EXPECT_GT(statuses_[4], 300);
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(ApiDocument, EveryOperationStandsAnEmptyABlankAOneByteAndTheLargestBody) {
  const auto most = usual().limits.body;
  const std::vector<std::string> bodies{"",
                                        " ",
                                        "\r\n",
                                        "0",
                                        "{",
                                        std::string(1, '\0'),
                                        std::string(most, ' '),
                                        std::string(most, '['),
                                        "\"" + std::string(most - 2, 'a') + "\""};
  for (const auto& operation : all())
    for (const auto& body : bodies) send(operation, target(operation), body);
  EXPECT_GT(statuses_[4], 150);  // what only reads takes no body, and answers
  EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(ApiDocument, AnswersAreWhatItSays) {
  for (const auto& operation : all()) {
    if (operation.method != "get" || operation.path.ends_with("/stream")) continue;
    const auto heard = get(target(operation));
    if (heard.status != 200 || heard.field("Content-Type") != "application/json") continue;
    const auto* content =
        operation.described.at("responses").at("200").as_object().if_contains("content");
    ASSERT_NE(content, nullptr) << operation.path;
    auto schema = content->at("application/json").at("schema").as_object();
    auto value = heard.json();
    if (schema.contains("properties")) {
      ASSERT_TRUE(value.as_object().contains("items")) << operation.path;
      const auto items = value.at("items").as_array();
      if (items.empty()) continue;
      schema = schema.at("properties").at("items").at("items").as_object();
      value = items.front();
    }
    const auto name = std::string{schema.at("$ref").as_string()}.substr(21);
    const auto& expected = document_.at("components").at("schemas").at(name).as_object();
    for (const auto& each : value.as_object())
      EXPECT_TRUE(expected.at("properties").as_object().contains(each.key()) ||
                  operation.path.contains("/records/"))
          << operation.path << ": " << each.key() << " is not described";
    if (const auto* required = expected.if_contains("required"))
      for (const auto& each : required->as_array())
        EXPECT_TRUE(value.as_object().contains(each.as_string()))
            << operation.path << ": " << each.as_string() << " is missing";
  }
}

TEST_F(ApiDocument, NoAnswerHasASecret) {
  const std::string ticket = "0123456789abcdef0123456789abcdef";
  write("secret", "zq7-password\n");
  write("hook", "https://hooks.example.com/services/zq7-hook\n");
  write("site.yaml",
        "site: here\nracks: [{name: a01, units: 48}]\ndefaults:\n  profile: dgx-h100\n"
        "  bmc: {user: admin, password: \"file:" +
            file("secret") +
            "\", tls: {trust: first-use}}\n  ssh: {user: root, key: " + file("secret") +
            "}\nnodes:\n  - {name: a01-n01, rack: a01, unit: 1, bmc: {address: 127.64.99.1}, "
            "ssh: {address: 127.64.98.1}}\n");
  write("service.yaml",
        "inventory: site.yaml\nrequests_per_second: 100000\n"
        "notices: [{name: ops, slack: \"file:hook\", on: [halt]}]\n");
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);
  const auto url = "http://10.0.0.1/boot/" + ticket + "/ram.efi";
  append(1, engine::EventKind::step_started, "a02-n01", "bmc-facts",
         R"({"handle":")" + url + R"("})");
  const auto folder = console::console_folder(state(), 1);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(console::BoundedLog(folder, "a01-n01").append("  URI: " + url + "\r\n"));
  const std::vector secrets{std::string{"zq7-"}, std::string{"PRIVATE KEY"}, ticket,
                            token("bob", "viewer")};

  int answered = 0;
  const auto has_none = [&](const std::string& answer, const Operation& operation) {
    for (const auto& secret : secrets)
      EXPECT_THAT(answer, ::testing::Not(HasSubstr(secret)))
          << operation.method << " " << operation.path;
  };
  for (const auto& operation : all()) {
    if (operation.path.ends_with("/stream")) {
      has_none(raw_tls_until_token_ends(target(operation), "bmc-facts"), operation);
      continue;
    }
    const auto schema = body_schema(operation);
    const auto body = schema.empty() ? std::string{} : json::serialize(valid_body(schema));
    const auto heard = send(operation, target(operation), body);
    answered += heard.status == 200 ? 1 : 0;
    has_none(heard.head + heard.body, operation);
    if (!schema.empty()) has_none(send(operation, target(operation), "{\"x\":1}").body, operation);
  }
  EXPECT_GT(answered, 15);
}

/// "whoAmI": "who_am_i".
std::string python_name(std::string_view id) {
  std::string name;
  for (const char c : id) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

TEST_F(ApiDocument, TheShippedPythonClientIsMadeFromItAndHasEveryOperation) {
  CUPEL_NEEDS_REAL_PART(testing::run({"python3", "-c", ""}).status == 0,
                        "no python3: apt-get install python3");
  std::ostringstream shipped;
  shipped << std::ifstream{SOURCE_DIR "/docs/api/cupel_client.py"}.rdbuf();
  write("openapi.json", json::serialize(document_));

  const auto made = testing::run(
      {"python3", SOURCE_DIR "/scripts/python-client", "--print", file("openapi.json")});

  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.out, shipped.str()) << "run scripts/python-client with this build's document";
  for (const auto& each : all()) {
    const auto name = python_name(std::string{each.described.at("operationId").as_string()});
    EXPECT_THAT(shipped.str(), HasSubstr("\n    def " + name + "("));
  }
}

/// Against the schema that the OpenAPI Initiative publishes, by python3-jsonschema.
TEST_F(ApiDocument, IsOpenApiByThePublishedSchema) {
  constexpr const char* kValidate =
      "import json, sys, jsonschema\n"
      "check = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))\n"
      "faults = ['/'.join(map(str, e.absolute_path)) + ': ' + e.message[:200]\n"
      "          for e in check.iter_errors(json.load(open(sys.argv[2])))]\n"
      "print('\\n'.join(faults))\n"
      "sys.exit(bool(faults))\n";
  const auto schema = std::string{SOURCE_DIR} + "/tests/orchestrator/api/openapi-3.1.schema.json";
  write("openapi.json", json::serialize(document_));
  auto broken = document_;
  broken["paths"].as_object()["/healthz"].as_object()["get"].as_object()["parameters"] =
      json::array{7};
  write("broken.json", json::serialize(broken));
  CUPEL_NEEDS_REAL_PART(testing::run({"python3", "-c", "import jsonschema"}).status == 0,
                        "no python3-jsonschema: apt-get install python3-jsonschema");

  const auto ran = testing::run({"python3", "-c", kValidate, schema, file("openapi.json")});
  const auto wrong = testing::run({"python3", "-c", kValidate, schema, file("broken.json")});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(wrong.status, 1) << "the schema finds nothing";
}

}  // namespace
}  // namespace cupel::test
