//! Removes comments and indentation of a script or stylesheet. It drops whole lines only and refuses literals that span
//! lines, so it needs no parser.

pub fn strip(source: &str) -> Result<String, String> {
    let mut stripped = String::with_capacity(source.len());
    let mut is_comment = false;
    for (index, line) in source.lines().enumerate() {
        let line = line.trim();
        if is_comment || line.starts_with("/*") {
            is_comment = !line.contains("*/");
            if !is_comment && !line.ends_with("*/") {
                return Err(format!("line {}: code after a comment", index + 1));
            }
        } else if !line.is_empty() && !line.starts_with("//") {
            if line.matches('`').count() % 2 == 1 || line.ends_with('\\') {
                return Err(format!("line {}: a literal of several lines", index + 1));
            }
            stripped.push_str(line);
            stripped.push('\n');
        }
    }
    if is_comment {
        return Err("a comment without an end".to_owned());
    }
    Ok(stripped)
}
