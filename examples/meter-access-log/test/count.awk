# Counts what an access log should be billed for: customer, product, requests and bytes, one row each.
# Written independently of the program that it checks, in another way: it finds the fields from both ends of the line.

BEGIN { OFS = "\t" }

{
  line = $0
  # Removes escaped quotes and backslashes.
  gsub(/\\\\/, "", line)
  gsub(/\\"/, "", line)
  # 1: up to the request, 2: the request, 3: status and bytes, 4: referer, 6: agent.
  split(line, part, "\"")
  split(part[2], request, " ")
  split(part[3], answer, " ")
  path = request[2]
  sub(/\?.*/, "", path)
  if (answer[1] >= 500) next

  product = ""
  if (path == "/api/search") product = "search"
  else if (path ~ /^\/api\/images\/samples\//) product = ""
  else if (path ~ /^\/api\/images\//) product = "images"
  else if (path ~ /^\/api\/reports\//) product = "reports"
  else if (path ~ /^\/files\//) product = "downloads"
  if (product == "") next

  customer = $1
  n = split($1, octet, ".")
  if (n == 4 && octet[1] == 127 && octet[2] == 0 && octet[3] == 0) {
    if (octet[4] >= 16 && octet[4] <= 31) customer = "Northwind"
    if (octet[4] >= 32 && octet[4] <= 47) customer = "Contoso"
  }
  requests[customer OFS product] += 1
  bytes[customer OFS product] += answer[2]
}

END { for (key in requests) printf "%s\t%d\t%.0f\n", key, requests[key], bytes[key] }
