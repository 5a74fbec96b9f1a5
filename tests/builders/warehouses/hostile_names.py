"""Names that Kafka takes, or that whoever writes to the topic can put there, and that no page may run or be bent by."""

MARKUP = "</code></style></script><script>window.pwned=1</script>"
IMAGE = '"><img src=x onerror="window.pwned=1">'
SPELLED = "&lt;b&gt;"
LINK = "javascript:window.pwned=1"
TEMPLATE = "{{ 7 * 7 }}{% raw %}{cluster}"
QUOTED = "it's; DROP TABLE findings --"
TURNED = "pay\u202egnp.sgol"
CONTROL = "bell\x07\x1b]0;x\x07\x00end"
EMOJI = "orders-🦊-👩\u200d🚀"
LONG = "L" + "o" * 32_000 + "ng"
NAMES = (MARKUP, IMAGE, SPELLED, LINK, TEMPLATE, QUOTED, TURNED, CONTROL, EMOJI, LONG, "", " ", "-rf")
