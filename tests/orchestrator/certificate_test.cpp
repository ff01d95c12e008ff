#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/base64.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/signature.h"
#include "base/task.h"
#include "orchestrator/certificate/envelope.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/certificate/unique_keys.h"
#include "orchestrator/store/journal_file.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::certificate {
namespace {

using ::testing::HasSubstr;

/// A fresh Ed25519 key as PEM.
std::string new_key() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  BIO* out = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* bytes = nullptr;
  const auto size = static_cast<std::size_t>(BIO_get_mem_data(out, &bytes));
  std::string pem{bytes, size};
  BIO_free(out);
  EVP_PKEY_free(key);
  return pem;
}

struct Keys {
  std::string secret = new_key();
  std::vector<std::string> open{*public_key_of(secret)};
  SigningKey signer() const { return *SigningKey::of_private_key(secret); }
};

std::string why(const Result<Opened>& opened) {
  return opened ? "it was opened" : opened.error().what;
}

/// The envelope with another payload in it, all else as it was.
std::string with_payload(const std::string& envelope, std::string_view payload) {
  auto value = json::parse(envelope).as_object();
  value["payload"] = base64(payload);
  return json::serialize(value);
}

TEST(CertificateEnvelope, OpensWhatItsKeyHasSealed) {
  const Keys keys;
  const std::string payload = "{\n \"verdict\": \"pass\"\n}\n";

  const auto envelope = seal(payload, keys.signer());
  ASSERT_TRUE(envelope) << envelope.error().what;
  const auto opened = open(*envelope, keys.open);

  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(opened->payload, payload);
  EXPECT_EQ(opened->key_id, *key_id(keys.open[0]));
}

TEST(CertificateEnvelope, SignsAsDsseSays) {
  const Keys keys;
  const auto envelope = json::parse(*seal("hello world", keys.signer()));
  const auto signature = *from_base64(*text_at(envelope.at("signatures").at(0), "sig"));

  EXPECT_TRUE(verify_signature("DSSEv1 28 application/vnd.in-toto+json 11 hello world", signature,
                               keys.open[0]));
}

TEST(CertificateEnvelope, NamesWhereThePayloadWasChanged) {
  const Keys keys;
  std::string payload;
  for (int line = 1; line <= 200; ++line) payload += "\"a01-n" + std::to_string(line) + "\": 1\n";
  const auto envelope = *seal(payload, keys.signer());
  auto changed = payload;
  changed[changed.find("n150\": 1") + 7] = '2';

  const auto opened = open(with_payload(envelope, changed), keys.open);

  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::kUntrusted);
  EXPECT_THAT(opened.error().what, HasSubstr("it is not what was signed; the first change is in"));
  const auto at = opened.error().what.find("at line ") + 8;
  const int line = std::stoi(opened.error().what.substr(at));
  EXPECT_GE(150, line);
  EXPECT_GT(line, 125);  // a block has some twenty of these lines
}

TEST(CertificateEnvelope, NoChangedByteOfThePayloadOrItsSignatureGoesUnseen) {
  const Keys keys;
  const auto envelope = *seal("{\"verdict\": \"fail\"}", keys.signer());
  const auto value = json::parse(envelope);
  const auto payload = *from_base64(*text_at(value, "payload"));
  const auto signature = *from_base64(*text_at(value.at("signatures").at(0), "sig"));
  for (std::size_t at = 0; at < payload.size(); ++at) {
    auto changed = payload;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(open(with_payload(envelope, changed), keys.open)) << at;
  }
  for (std::size_t at = 0; at < signature.size(); ++at) {
    auto changed = signature;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    auto other = value.as_object();
    other["signatures"].as_array()[0].as_object()["sig"] = base64(changed);
    EXPECT_THAT(why(open(json::serialize(other), keys.open)),
                HasSubstr("so the signature was changed"))
        << at;
  }
}

TEST(CertificateEnvelope, IsRefusedWhereverItIsCut) {
  const Keys keys;
  auto envelope = *seal("{\n\"verdict\": \"pass\"\n}\n", keys.signer());
  while (envelope.ends_with('\n')) envelope.pop_back();

  for (std::size_t size = 0; size < envelope.size(); ++size)
    EXPECT_FALSE(open(envelope.substr(0, size), keys.open)) << size << " bytes";
  EXPECT_TRUE(open(envelope, keys.open));
}

/// Whoever changes the payload can sign it himself, and leave the former signature beside his own.
TEST(CertificateEnvelope, IsRefusedWhereAnotherKeyHasSignedAChangedPayload) {
  const Keys mine, other;
  const auto original = json::parse(*seal(R"({"verdict": "fail"})", mine.signer()));
  auto forged = json::parse(*seal(R"({"verdict": "pass"})", other.signer())).as_object();
  auto& signatures = forged["signatures"].as_array();
  const auto theirs = signatures.at(0);
  signatures.push_back(original.at("signatures").at(0));

  EXPECT_EQ(open(json::serialize(forged), mine.open).error().code, Code::kUntrusted);
  signatures = {original.at("signatures").at(0), theirs};
  EXPECT_EQ(open(json::serialize(forged), mine.open).error().code, Code::kUntrusted);
  signatures = {theirs};
  signatures[0].as_object()["keyid"] = *key_id(mine.open[0]);
  EXPECT_EQ(open(json::serialize(forged), mine.open).error().code, Code::kUntrusted);
}

TEST(CertificateEnvelope, IsRefusedUnderAnotherKeyAndOpenedUnderOneOfSeveral) {
  const Keys mine, other;
  const auto envelope = *seal("{}", mine.signer());

  EXPECT_THAT(why(open(envelope, other.open)),
              HasSubstr("signed by another key: it names " + *key_id(mine.open[0])));
  const std::vector<std::string> both{other.open[0], mine.open[0]};
  EXPECT_TRUE(open(envelope, both));
}

TEST(CertificateEnvelope, TakesNothingThatIsNoSignedEnvelope) {
  const Keys keys;
  EXPECT_EQ(open("", keys.open).error().code, Code::kMalformed);
  EXPECT_EQ(open("[]", keys.open).error().code, Code::kMalformed);
  EXPECT_THAT(why(open(R"({"payloadType":"text/plain","payload":"e30="})", keys.open)),
              HasSubstr("an envelope of \"text/plain\""));
  const std::string head = R"({"payloadType":"application/vnd.in-toto+json","payload":)";
  EXPECT_THAT(why(open(head + R"("?"})", keys.open)), HasSubstr("no base64"));
  EXPECT_THAT(why(open(head + R"("e30="})", keys.open)), HasSubstr("not signed"));
  EXPECT_THAT(why(open(head + R"("e30=","signatures":[]})", keys.open)), HasSubstr("not signed"));
  EXPECT_THAT(why(open(head + R"("e30=","signatures":[{"sig":""}]})", keys.open)),
              HasSubstr("signed by another key"));
}

TEST(CertificateEnvelope, IsRefusedWhereAnotherReaderMaySeeAnotherPayload) {
  const Keys keys;
  auto envelope = *seal(R"({"verdict": "pass"})", keys.signer());
  ASSERT_TRUE(open(envelope, keys.open));

  const auto twice = envelope.insert(1, R"("payload":"e30=",)");

  EXPECT_THAT(why(open(twice, keys.open)), HasSubstr("names one key twice"));
}

/// Whoever keeps certificates by what stands in the file must not see one of them in many forms.
TEST(CertificateEnvelope, IsTakenInTheTwoAlphabetsOfBase64AndInNoOtherForm) {
  const Keys keys;
  const std::string payload = "{\"a\": \"\xC3\xBF\xC3\xBE?>~\"}\n";
  const auto sealed = json::parse(*seal(payload, keys.signer())).as_object();
  const auto text = std::string{sealed.at("payload").as_string()};
  const auto with = [&](const std::string& written) {
    auto changed = sealed;
    changed["payload"] = written;
    return open(json::serialize(changed), keys.open);
  };
  const auto with_signature = [&](auto change) {
    auto changed = sealed;
    auto& signature = changed["signatures"].as_array()[0].as_object()["sig"];
    signature = change(std::string{signature.as_string()});
    return open(json::serialize(changed), keys.open);
  };
  auto url_safe = text;
  std::ranges::replace(url_safe, '+', '-');
  std::ranges::replace(url_safe, '/', '_');
  ASSERT_NE(text, url_safe);
  ASSERT_TRUE(text.ends_with('='));
  auto left_over = text;
  auto& last = left_over[left_over.find('=') - 1];
  last = static_cast<char>(last + 1);
  ASSERT_EQ(from_base64(left_over), payload) << "bits that no byte has";

  EXPECT_EQ(with(text)->payload, payload);
  EXPECT_EQ(with(url_safe)->payload, payload);
  for (const auto& bad :
       {" " + text, text + "\n", text.substr(0, 8) + "\n" + text.substr(8), text + "=",
        text.substr(0, text.find('=')), left_over, text + text.substr(0, 1), url_safe + "+"})
    EXPECT_FALSE(with(bad)) << bad;
  EXPECT_TRUE(with_signature([](const std::string& sig) { return sig; }));
  EXPECT_FALSE(with_signature([](const std::string& sig) { return sig + "\n"; }));
  EXPECT_FALSE(with_signature([](const std::string& sig) { return sig + "="; }));
  EXPECT_FALSE(with_signature([](std::string sig) {
    sig.resize(sig.find('='));
    return sig;
  }));
}

TEST(CertificateEnvelope, BoundsItsSignaturesItsDepthAndItsNumbers) {
  const Keys keys;
  auto sealed = json::parse(*seal("{}", keys.signer())).as_object();
  auto& signatures = sealed["signatures"].as_array();
  const auto mine = signatures.at(0);

  signatures.push_back(mine);
  EXPECT_TRUE(open(json::serialize(sealed), keys.open)) << "the same twice proves no less";
  for (int i = 0; i < 20; ++i) signatures.push_back(mine);
  EXPECT_THAT(why(open(json::serialize(sealed), keys.open)), HasSubstr("over 16 signatures"));
  const std::string deep(100'000, '[');
  EXPECT_EQ(open(deep, keys.open).error().code, Code::kMalformed);
  EXPECT_EQ(read_statement("{\"predicate\": " + deep).error().code, Code::kMalformed);
  for (const auto* number : {"NaN", "Infinity", "-Infinity", "nan"})
    EXPECT_EQ(read_statement("{\"_type\": " + std::string{number} + "}").error().code,
              Code::kMalformed);
  sealed["payloadType"] = " application/vnd.in-toto+json";
  EXPECT_THAT(why(open(json::serialize(sealed), keys.open)), HasSubstr("an envelope of"));
}

TEST(UniqueKeys, TakesEachKeyOfAnObjectOnce) {
  EXPECT_TRUE(parse_unique(R"({"a": "x: \\", "b": ["\": ", {"a": 1}], "d:\"": {}, "": null})"));
  EXPECT_EQ(parse_unique(R"({"a": 1, "b": {"c": 1, "c": 2}})").error().code, Code::kMalformed);
  EXPECT_EQ(parse_unique(R"([{"a": 1, "\u0061": 1}])").error().code, Code::kMalformed);
  EXPECT_EQ(parse_unique(R"({"a": 1)").error().code, Code::kMalformed);
}

class Certificate : public report::Report {
 protected:
  Certificate() {
    end("a01-n01", "gpu-facts", facts_of("1660A"));
    end("a01-n01", "verdict", record::to_json(passed()));
    end("a01-n02", "gpu-facts", facts_of("1660B"));
    end("a01-n02", "verdict", record::to_json(bad()));
    issue.at = engine::WallTime{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23}};
    issue.expires = issue.at + std::chrono::hours{24};
    issue.by = "kim";
  }

  static json::object facts_of(const std::string& serial) {
    return {{"facts", {{"system.serial", serial}}}};
  }
  static burnin::Verdict passed() {
    auto verdict = good();
    verdict.checked.push_back({.stage = "gpu-facts",
                               .part = "gpu0",
                               .measure = "gpu.ecc.uncorrected",
                               .quantity = {.value = 0, .at_most = 0, .unit = "errors"},
                               .met = burnin::Met::met,
                               .source = "NVIDIA"});
    return verdict;
  }
  void end_run() { add({engine::EventKind::run_ended}); }

  Issue issue{};
};

TEST_F(Certificate, SaysWhatTheRunFoundOutOfEachMachine) {
  end_run();
  issue.audit_head = "56:" + sha256_hex("entry 56");
  const auto statement = statement_of(summary(), issue);
  ASSERT_TRUE(statement) << statement.error().what;
  const auto says = read_statement(payload_of(*statement));
  ASSERT_TRUE(says) << says.error().what;

  EXPECT_EQ(text_at(*statement, "predicate/audit"), issue.audit_head);
  EXPECT_EQ(says->site, "lab <&>");
  EXPECT_EQ(says->issued_by, "kim");
  EXPECT_EQ(says->expires, issue.expires);
  EXPECT_EQ(says->head, summary().provenance.head);
  ASSERT_EQ(says->nodes.size(), 2);
  EXPECT_EQ(says->nodes[0].serial, "1660A");
  EXPECT_EQ(says->nodes[0].decision, "pass");
  EXPECT_EQ(says->nodes[0].criteria, 1);
  EXPECT_EQ(says->nodes[1].decision, "fail");
  EXPECT_EQ(*text_at(statement->at("subject").at(1), "digest/sha256"), sha256_hex("1660B"));
}

TEST_F(Certificate, SaysWhoHasSeenEachFact) {
  using enum inventory::PartKind;
  const std::vector<inventory::Part> by_bmc{
      {.kind = psu, .name = "psu1", .serial = "X1"},
      {.kind = gpu, .name = "GPU_SXM_1", .serial = "G1"},
      {.kind = firmware, .name = "HGX_FW_BMC_0", .firmware = "24.09"}};
  burnin::Findings by_node;
  by_node.parts = {{.kind = system, .name = "system", .serial = "1660A"},
                   {.kind = gpu, .name = "gpu0", .serial = "G1"},
                   {.kind = nvme, .name = "nvme0", .serial = "X1"},
                   {.kind = firmware, .name = "driver", .firmware = "550.90"},
                   {.kind = firmware, .name = "bios", .firmware = "1.1.3"}};
  end("a01-n01", "bmc-facts",
      {{"bmc_parts", record::to_json(by_bmc)},
       {"system_serial", "1660A"},
       {"facts", {{"bios.version", "1.1.3"}, {"bmc.version", "23.11"}}}});
  end("a01-n01", "node-facts", record::to_json(by_node));
  auto verdict = passed();
  verdict.checked.push_back(verdict.checked.front());
  verdict.checked.back().stage = "psu";
  end("a01-n01", "verdict", record::to_json(verdict));
  end_run();

  const auto statement = statement_of(summary(), issue);
  ASSERT_TRUE(statement) << statement.error().what;

  const auto& node = statement->at("predicate").at("nodes").at(0);
  const auto seen = [&](const char* list) {
    std::map<std::string, std::string> found;
    for (const auto& each : node.at(list).as_array())
      found[*text_at(each, "name") + " " + text_at(each, "version").value_or("")] =
          *text_at(each, "seen_by");
    return found;
  };
  const std::string outside = "out of band", inside = "the node itself",
                    both = "out of band and the node itself";
  using Seen = std::map<std::string, std::string>;
  EXPECT_EQ(text_at(node, "chassis_seen_by"), both);
  EXPECT_EQ(
      seen("parts"),
      (Seen{{"psu1 ", outside}, {"GPU_SXM_1 ", both}, {"nvme0 ", inside}, {"system ", both}}));
  EXPECT_EQ(seen("versions"), (Seen{{"HGX_FW_BMC_0 24.09", outside},
                                    {"bios 1.1.3", both},
                                    {"bmc 23.11", outside},
                                    {"driver 550.90", inside}}));
  EXPECT_EQ(text_at(node.at("criteria").at(0), "seen_by"), inside);
  EXPECT_EQ(text_at(node.at("criteria").at(1), "seen_by"), outside);
}

TEST_F(Certificate, IsOfTheNodesThatItWasAskedFor) {
  end_run();
  issue.nodes = {"a01-n02"};
  const auto says = read_statement(payload_of(*statement_of(summary(), issue)));
  ASSERT_TRUE(says) << says.error().what;
  ASSERT_EQ(says->nodes.size(), 1);
  EXPECT_EQ(says->nodes[0].node, "a01-n02");

  issue.nodes = {"a01-n02", "b07-n01"};
  EXPECT_THAT(statement_of(summary(), issue).error().what, HasSubstr("b07-n01 took no part"));
}

TEST_F(Certificate, IsNotIssuedBeforeTheEndNorForMachinesWithoutASerialNumber) {
  EXPECT_THAT(statement_of(summary(), issue).error().what,
              HasSubstr("a certificate is of a run that has ended"));
  end("a01-n02", "gpu-facts", facts_of(""));
  end_run();
  EXPECT_THAT(statement_of(summary(), issue).error().what,
              HasSubstr("a01-n02 reported no chassis serial number"));
}

TEST_F(Certificate, ThatContradictsItselfIsRefusedWhoeverSignedIt) {
  end_run();
  const auto statement = *statement_of(summary(), issue);
  json::error_code failure;
  const auto refused = [&](const char* pointer, const json::value& instead) {
    json::value changed = statement;
    *changed.find_pointer(pointer, failure) = instead;
    const auto says = read_statement(payload_of(changed.as_object()));
    return says ? std::string{"taken"} : says.error().what;
  };

  EXPECT_THAT(refused("/predicate/nodes/0/criteria/0/met", false),
              HasSubstr("it says that a01-n01 passed, and 1 of its 1 criteria are not met"));
  EXPECT_THAT(refused("/predicate/nodes/1/verdict", "pass"), HasSubstr("a01-n02 passed"));
  for (const auto* verdict : {"Pass", "passed", "ok"})
    EXPECT_THAT(refused("/predicate/nodes/1/verdict", verdict),
                HasSubstr("its verdict of a01-n02"));
  EXPECT_THAT(refused("/predicate/nodes/0/chassis_serial", "1660X"),
              HasSubstr("the subject of a01-n01 is not its serial number"));
  EXPECT_THAT(refused("/predicate/expires", "soon"), HasSubstr("is no time: soon"));
  EXPECT_THAT(refused("/predicate/expires", "2026-11-22T23:59:59Z"),
              HasSubstr("it expires before it was issued"));
  EXPECT_THAT(refused("/predicate/nodes/0/criteria", json::array{}),
              HasSubstr("it says that a01-n01 passed, and has no criterion of it"));
  EXPECT_THAT(refused("/predicate/nodes/0/causes", json::array{json::object{}}),
              HasSubstr("it says that a01-n01 passed, and has causes why it did not"));
  EXPECT_THAT(refused("/predicate/nodes/1/node", "a01-n01"),
              HasSubstr("a01-n01 stands in it twice"));
  EXPECT_THAT(refused("/predicate/nodes/1/node", "A01-N01"),
              HasSubstr("A01-N01 stands in it twice"));
  EXPECT_THAT(refused("/predicate/nodes/1/chassis_serial", "1660a"),
              HasSubstr("the machine 1660a stands in it twice, also as a01-n02"));
  for (const auto* beyond : {R"({"measure":"gpu.ecc","value":1e9,"at_most":0,"met":true})",
                             R"({"measure":"gemm.rate","value":1,"at_least":700,"met":true})"})
    EXPECT_THAT(refused("/predicate/nodes/0/criteria/0", json::parse(beyond)),
                HasSubstr("is met, and its value is beyond its limit"));
  EXPECT_EQ(refused("/predicate/nodes/0/criteria/0",
                    json::parse(R"({"value":0.30000000000000004,"at_most":0.3,"met":true})")),
            "taken");
  const auto serial = statement.at("predicate").at("nodes").at(0).at("chassis_serial");
  EXPECT_THAT(refused("/predicate/nodes/1/chassis_serial", serial),
              HasSubstr("stands in it twice"));
  for (const auto* run : {"1e300", "-1", "1.5", "0", "\"none\""})
    EXPECT_THAT(refused("/predicate/run", json::parse(run)), HasSubstr("it names no run"));
  EXPECT_THAT(refused("/predicateType", "urn:cupel:qualification:9"),
              HasSubstr("urn:cupel:qualification:9"));
  EXPECT_THAT(refused("/predicate/nodes", json::array{}), HasSubstr("no nodes"));
  EXPECT_THAT(refused("/subject", json::array{}), HasSubstr("its subjects"));
}

TEST_F(Certificate, ItsJournalIsCheckedUpToTheRunsStart) {
  end_run();
  const auto file = folder / "run.journal";
  const auto written = store::write_journal(*store, id, file);
  ASSERT_TRUE(written) << written.error().what;

  const auto read = store::check_journal(file);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->events, written->events);
  EXPECT_EQ(read->head, summary().provenance.head);
  EXPECT_EQ(read->sha256, written->sha256);

  const auto text = *read_file(file, 1UL << 20U);
  const auto refused = [&](std::string changed) {
    EXPECT_TRUE(write_file(file, changed));
    const auto again = store::check_journal(file);
    return again ? std::string{"taken"} : again.error().what;
  };
  auto changed = text;
  changed.replace(changed.find("1660A"), 5, "1660C");
  EXPECT_THAT(refused(changed), HasSubstr("event 3 of the journal is not what was written"));
  const auto second = text.find('\n') + 1;
  EXPECT_THAT(refused(text.substr(0, second) + text.substr(text.find('\n', second) + 1)),
              HasSubstr("event 2 of the journal is missing"));
  EXPECT_THAT(refused(text.substr(second)), HasSubstr("event 1 of the journal is missing"));
  EXPECT_THAT(refused(text.substr(0, text.size() - 20)), HasSubstr("is no event of a journal"));
}

TEST_F(Certificate, ItsJournalIsWrittenThroughNoLinkThatStandsBesideIt) {
  end_run();
  const auto file = folder / "run.journal", victim = folder / "victim";
  ASSERT_TRUE(write_file(victim, "as it was"));
  std::filesystem::create_symlink(victim, folder / "run.journal.part");

  EXPECT_TRUE(store::write_journal(*store, id, file));

  EXPECT_EQ(read_file(victim, 100).value(), "as it was");
  EXPECT_TRUE(store::check_journal(file));
  const auto folder_of_it = store::check_journal(folder);
  ASSERT_FALSE(folder_of_it);
  EXPECT_THAT(folder_of_it.error().what, HasSubstr("is not a regular file, but a folder"));
}

/// A key of ssh-keygen's, in a file and in a real agent.
class AgentKey : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists("/usr/bin/ssh-agent"), "no ssh-agent");
    const auto made = testing::run(
        {"/usr/bin/ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "site", "-f", file("site")});
    ASSERT_EQ(made.status, 0) << made.err;
    agent_.emplace(std::vector<std::string>{"/usr/bin/ssh-agent", "-D", "-a", file("agent")});
    ASSERT_TRUE(agent_->wait_for("SSH_AUTH_SOCK"));
    ::setenv("SSH_AUTH_SOCK", file("agent").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("SSH_AUTH_SOCK"); }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string open_key() const { return *read_file(file("site.pub"), 1000); }
  void add() {
    const auto added =
        testing::run({"/usr/bin/ssh-add", "-q", file("site")}, {"SSH_AUTH_SOCK=" + file("agent")});
    ASSERT_EQ(added.status, 0) << added.err;
  }

 private:
  test::TemporaryFolder folder_{};
  std::optional<testing::Child> agent_{};
};

TEST_F(AgentKey, SignsAsTheSameKeyInAFileDoes) {
  add();
  const auto key = SigningKey::of_agent(open_key());
  ASSERT_TRUE(key) << key.error().what;

  const auto signature = key->sign("some bytes");

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_TRUE(verify_signature("some bytes", *signature, open_key()));
  EXPECT_TRUE(verify_signature("some bytes", *signature, key->public_key()));
  EXPECT_EQ(verify_signature("other bytes", *signature, open_key()).error().code, Code::kUntrusted);
}

TEST_F(AgentKey, OfAnotherIsNotReplacedByWhatTheAgentHas) {
  add();
  const auto key = SigningKey::of_agent(*public_key_of(new_key()));
  ASSERT_TRUE(key) << key.error().what;

  EXPECT_THAT(key->sign("x").error().what, HasSubstr("does not hold this key"));
}

TEST_F(AgentKey, SaysWhatIsMissing) {
  const auto key = SigningKey::of_agent(open_key()).value();

  EXPECT_THAT(key.sign(std::string(300'000, 'x')).error().what, HasSubstr("240 KiB"));
  ::setenv("SSH_AUTH_SOCK", file("nothing").c_str(), 1);
  EXPECT_THAT(key.sign("x").error().what, HasSubstr("no agent answers"));
  ::unsetenv("SSH_AUTH_SOCK");
  EXPECT_THAT(key.sign("x").error().what, HasSubstr("SSH_AUTH_SOCK is not set"));
  EXPECT_FALSE(SigningKey::of_agent("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA=="));
  EXPECT_FALSE(SigningKey::of_agent("ssh-rsa AAAAB3NzaC1yc2E="));
}

/// A socket that answers whatever a test wants.
TEST_F(AgentKey, IsNotDeceivedByWhatIsNoAgent) {
  const auto key = SigningKey::of_agent(open_key()).value();
  const std::string answers[] = {
      std::string{"\xff\xff\xff\xff", 4}, std::string{"\0\0\0\0", 4},
      std::string{"\0\0\0\x05\x0e\0\0\xff\xff", 9}, "no",
      std::string{"\0\0\0\x17\x0e\0\0\0\x12\0\0\0\x0bssh-ed25519\0\0\0\0", 27}};
  for (std::size_t i = 0; i < std::size(answers); ++i) {
    asio::io_context io;
    const auto path = file("s" + std::to_string(i));
    asio::local::stream_protocol::acceptor door{io, asio::local::stream_protocol::endpoint{path}};
    std::thread server{[&] {
      auto one = door.accept();
      boost::system::error_code ended;
      asio::write(one, asio::buffer(answers[i]), ended);
      one.shutdown(asio::socket_base::shutdown_send, ended);
      std::string rest(4096, ' ');
      while (!ended) one.read_some(asio::buffer(rest), ended);
    }};
    ::setenv("SSH_AUTH_SOCK", path.c_str(), 1);

    const auto signature = key.sign("x");

    EXPECT_FALSE(signature) << i;
    server.join();
  }
}

/// A token of SoftHSM's with one key of Ed25519, which OpenSSL made.
class TokenSigner : public ::testing::Test {
 protected:
  static constexpr const char* kModule = "/usr/lib/softhsm/libsofthsm2.so";

  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kModule), "no SoftHSM (package softhsm2)");
    std::filesystem::create_directory(file("tokens"));
    ASSERT_TRUE(write_file(file("conf"), "directories.tokendir = " + file("tokens") +
                                             "\nobjectstore.backend = file\nlog.level = ERROR\n"));
    ::setenv("SOFTHSM2_CONF", file("conf").c_str(), 1);
    ASSERT_TRUE(write_file(file("key"), own_));
    run({"softhsm2-util", "--init-token", "--free", "--label", "site", "--so-pin", "1234", "--pin",
         "5678"});
    import("certificates", "01");
  }
  void TearDown() override { ::unsetenv("SOFTHSM2_CONF"); }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  void run(std::vector<std::string> words) const {
    words.front() = "/usr/bin/" + words.front();
    const auto ran = testing::run(std::move(words), {"SOFTHSM2_CONF=" + file("conf")});
    ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  }
  void import(const std::string& label, const std::string& id) const {
    run({"softhsm2-util", "--import", file("key"), "--token", "site", "--label", label, "--id", id,
         "--pin", "5678"});
  }
  static TokenKey named(const std::string& object, const std::string& token = "site") {
    return {.module = kModule, .token = token, .object = object};
  }
  static Error refusal(const TokenKey& key, const std::string& pin) {
    const auto signer = SigningKey::of_token(key, pin);
    return signer ? Error{Code::kFailed, "accepted"} : signer.error();
  }

  const std::string own_ = *make_signing_key();

 private:
  test::TemporaryFolder folder_{};
};

TEST_F(TokenSigner, SignsAsTheSameKeyInAFileDoes) {
  const auto key = SigningKey::of_token(named("certificates"), "5678");
  ASSERT_TRUE(key) << key.error().what;
  const std::string large(3u << 20U, 'x');  // a rack's certificate

  const auto signature = key->sign(large);

  ASSERT_TRUE(signature) << signature.error().what;
  EXPECT_EQ(*signature, *sign(large, own_)) << "Ed25519 is deterministic";
  EXPECT_EQ(key->public_key(), *public_key_of(own_));
}

TEST_F(TokenSigner, IsFoundByItsIdAlone) {
  TokenKey key{.module = kModule, .id = "\x01"};

  EXPECT_TRUE(SigningKey::of_token(key, "5678"));
  key.id = "\x02";
  EXPECT_THAT(refusal(key, "5678").what, HasSubstr("no public key of Ed25519 of this name"));
}

TEST_F(TokenSigner, IsNotAskedTwiceWithAWrongPin) {
  const auto wrong = refusal(named("certificates"), "9999");

  EXPECT_EQ(wrong.code, Code::kRefused);
  EXPECT_THAT(wrong.what, HasSubstr("the PIN is wrong"));
  EXPECT_THAT(refusal(named("certificates"), "").what, HasSubstr("pin-source=file:"));
}

TEST_F(TokenSigner, SaysWhatIsNotThere) {
  EXPECT_THAT(refusal(named("other"), "5678").what, HasSubstr("no public key of Ed25519"));
  EXPECT_THAT(refusal(named("certificates", "elsewhere"), "5678").what,
              HasSubstr("no such token, but: site"));
  auto key = named("certificates");
  key.module = "/usr/lib/no-such-module.so";
  EXPECT_THAT(refusal(key, "5678").what, HasSubstr("/usr/lib/no-such-module.so: "));
  key.module = file("conf");
  EXPECT_EQ(refusal(key, "5678").code, Code::kInvalid);
}

TEST_F(TokenSigner, IsNotChosenAmongSeveral) {
  import("certificates", "02");

  EXPECT_THAT(refusal(named("certificates"), "5678").what, HasSubstr("add id="));
  auto key = named("certificates");
  key.id = "\x02";
  EXPECT_TRUE(SigningKey::of_token(key, "5678"));
  run({"softhsm2-util", "--init-token", "--free", "--label", "spare", "--so-pin", "1234", "--pin",
       "5678"});
  key.token.clear();
  EXPECT_THAT(refusal(key, "5678").what, HasSubstr("several tokens fit"));
}

}  // namespace
}  // namespace cupel::certificate
