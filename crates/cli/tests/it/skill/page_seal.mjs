// Seals and opens a state by the layout that a built skill describes, with the crypto module of Node alone.
//
// Usage: page_seal.mjs seal|open AGENT KEY < state or token. The key is in SEAL_KEY.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const [verb, agent, idempotencyKey] = process.argv.slice(2);
const text = process.env.SEAL_KEY;
const key = Buffer.from(text, text.length === 64 ? "hex" : "base64");
const aad = Buffer.from(JSON.stringify([agent, idempotencyKey]), "utf8");
const input = readFileSync(0, "utf8").trim();

if (verb === "seal") {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
  const ciphertext = Buffer.concat([cipher.update(input, "utf8"), cipher.final()]);
  console.log(["CSEALv2", ...[nonce, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"))].join("."));
} else {
  const [prefix, ...parts] = input.split(".");
  if (prefix !== "CSEALv2" || parts.length !== 3) throw new Error("not a token");
  const [nonce, ciphertext, tag] = parts.map((part) => Buffer.from(part, "base64url"));
  if (nonce.length !== 12 || tag.length !== 16) throw new Error("wrong length");
  const decipher = createDecipheriv("aes-256-gcm", key, nonce).setAAD(aad).setAuthTag(tag);
  console.log(Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8"));
}
