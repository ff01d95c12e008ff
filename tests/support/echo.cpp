#include "tests/support/echo.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/text.h"

namespace cupel::test {
namespace {

std::string coded(const std::string& text, const char* form) {
  std::string all;
  for (const unsigned char c : text) all += fmt::format(fmt::runtime(form), c);
  return all;
}

/// A JSON text, without its quotes.
std::string escaped(const std::string& text) {
  const auto quoted = serialize(json::value(text));
  return quoted.substr(1, quoted.size() - 2);
}

/// What was heard, raw JSON behind each other: as it is inside of a text.
std::string everything(const std::vector<std::string>& heard) {
  std::string all;
  for (const auto& secret : heard)
    for (const auto& spelled : spellings(secret)) all += " | " + spelled;
  return all;
}

void add_behind_texts(json::value& value, std::string_view key, const std::string& mark) {
  if (auto* list = value.if_array())
    for (auto& one : *list) add_behind_texts(one, key, mark);
  if (auto* object = value.if_object())
    for (auto& entry : *object) add_behind_texts(entry.value(), entry.key(), mark);
  auto* text = value.if_string();
  const bool moves = key.starts_with('@') || key == "target" || key == "PowerState" ||
                     key == "UserName" || key == "RedfishVersion";
  if (text != nullptr && !moves && !text->starts_with("/redfish")) text->append(mark);
}

class Echo {
 public:
  explicit Echo(EchoIn where) : where_{where} {}

  void operator()(Exchanged& now) {
    hear(now);
    const bool login = now.method == "POST" && now.path.ends_with("/Sessions");
    const bool root = without_end(now.path) == "/redfish/v1";
    if (where_ == EchoIn::logins && login) return refuse(now, 400);
    if (where_ == EchoIn::refusals && !login && !root) return refuse(now, 500);
    if (where_ == EchoIn::documents && now.status == 200) return add(now);
  }

 private:
  static std::string_view without_end(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    return path;
  }

  void hear(const Exchanged& now) {
    const auto add_new = [this](std::string secret) {
      const bool known = std::ranges::find(heard_, secret) != heard_.end();
      if (!secret.empty() && !known) heard_.push_back(std::move(secret));
    };
    add_new(now.token);
    if (now.authorization.starts_with("Basic ")) add_new(now.authorization.substr(6));
    const auto body = parse_json(now.body);
    if (!body) return;
    const auto* password = find(*body, "Password");
    const auto* user = find(*body, "UserName");
    if (password == nullptr || !password->is_string()) return;
    const std::string secret{password->get_string()};
    add_new(secret);
    if (user != nullptr && user->is_string())
      add_new(basic_of(std::string{user->get_string()}, secret));
  }

  void refuse(Exchanged& now, int status) {
    now.status = status;
    now.answer =
        fmt::format(R"({{"error":{{"code":"Base.1.8.GeneralError","message":"See ExtendedInfo.",)"
                    R"("@Message.ExtendedInfo":[{{"MessageId":"Base.1.8.PropertyValueFormatError",)"
                    R"("Message":"The value '{}' for the property Password is of another format.",)"
                    R"("Severity":"Warning"}}]}}}})",
                    everything(heard_));
  }

  void add(Exchanged& now) {
    constexpr std::string_view kMark = "@@here@@";
    auto body = parse_json(now.answer);
    if (!body) return;
    add_behind_texts(*body, "", std::string{kMark});
    now.answer = serialize(*body);
    const auto all = everything(heard_);
    for (auto at = now.answer.find(kMark); at != now.answer.npos;
         at = now.answer.find(kMark, at + all.size()))
      now.answer.replace(at, kMark.size(), all);
  }

  EchoIn where_;
  std::vector<std::string> heard_{};
};

}  // namespace

std::function<void(Exchanged&)> echo(EchoIn where) {
  return [echo = std::make_shared<Echo>(where)](Exchanged& now) { (*echo)(now); };
}

std::vector<std::string> spellings(const std::string& secret) {
  return {escaped(secret), escaped(escaped(secret)), coded(secret, "\\u{:04x}"),
          coded(secret, "%{:02X}"), coded(secret, "&#{};")};
}

std::string basic_of(const std::string& user, const std::string& password) {
  const std::string plain = user + ":" + password;
  std::string encoded(plain.size() * 2 + 4, '\0');
  const auto length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                      reinterpret_cast<const unsigned char*>(plain.data()),
                                      static_cast<int>(plain.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return encoded;
}

}  // namespace cupel::test
